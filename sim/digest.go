package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

// Digest is the SHA-256 digest of one or more traces.
type Digest [sha256.Size]byte

const digestPrefix = "sha256:"

// String returns "sha256:" and 64 hex digits.
func (d Digest) String() string { return digestPrefix + hex.EncodeToString(d[:]) }

// MarshalText returns the same text as String.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText parses text like ParseDigest.
func (d *Digest) UnmarshalText(text []byte) error {
	parsed, err := ParseDigest(string(text))
	if err == nil {
		*d = parsed
	}
	return err
}

// ParseDigest parses the text returned by String.
func ParseDigest(s string) (Digest, error) {
	var d Digest
	digits, ok := strings.CutPrefix(s, digestPrefix)
	if !ok || len(digits) != hex.EncodedLen(len(d)) || digits != strings.ToLower(digits) {
		return Digest{}, fmt.Errorf("sim: digest %q: want %s and %d lower-case hex digits", s, digestPrefix, 2*len(d))
	}
	if _, err := hex.Decode(d[:], []byte(digits)); err != nil {
		return Digest{}, fmt.Errorf("sim: digest %q: %w", s, err)
	}
	return d, nil
}

// Fold combines digests into one, the digest of a campaign. Order matters. That of one run is its own; otherwise Fold
// hashes the text "durosim/fold/1", the number of digests as 8 little-endian bytes, and the digests.
func Fold(digests []Digest) Digest {
	if len(digests) == 1 {
		return digests[0]
	}
	h := sha256.New()
	h.Write([]byte("durosim/fold/1"))
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(digests))))
	for _, d := range digests {
		h.Write(d[:])
	}
	var d Digest
	h.Sum(d[:0])
	return d
}
