package sim

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Label is the constant part of a key segment. Make labels once, in package-level variables, with NewLabel, which
// computes the hash so that it is not recomputed at each use.
type Label struct {
	name string
	hash uint64
}

// NewLabel returns a label with the given name. It panics if the name is empty, since the segment could not be parsed.
func NewLabel(name string) Label {
	if name == "" {
		panic("sim: NewLabel with an empty name")
	}
	return Label{name: name, hash: mixText(name)}
}

// String returns the label's name.
func (l Label) String() string { return l.name }

// Segment is a Name segment with precomputed hashes, for names that are used repeatedly. It is immutable.
type Segment struct {
	label Label
	name  string
	hash  uint64
}

// NewSegment returns the segment that Key.Name adds.
func NewSegment(l Label, name string) Segment {
	return Segment{label: l, name: name, hash: mixText(name)}
}

// Key names a draw, a choice or an event by its place in the domain, for example by node, incarnation, instance, turn
// and purpose. It is built segment by segment. It is a small value, so pass it by value and derive new keys freely. It
// always carries the 64-bit hash of its path. A key derived from RootKey(true) also carries the path itself, so that it
// can be printed, at the cost of one allocation per segment.
//
// The zero Key is RootKey(false). Two keys are the same if their Hash is the same. Do not compare them with ==, which
// compares pointers to their paths.
type Key struct {
	hash uint64
	// actor is the hash of the path's first segment, which names the owner of the draw. It is 0 for the root and for a
	// key parsed from a hash.
	actor uint64
	// Invariant: path is nil, or its segments hash to hash.
	path *path
}

// path is the last segment of a recorded key, linked to the earlier ones through parent.
type path struct {
	parent *path
	kind   segmentKind
	label  string
	name   string
	num    uint64
}

// segmentKind distinguishes the three forms of segments. Each has its own value in the hash.
type segmentKind uint64

const (
	segmentRoot segmentKind = iota
	segmentAt
	segmentNum
	segmentName
)

// recordingRoot is the parent of all recorded paths. It is never modified.
var recordingRoot = &path{kind: segmentRoot}

// RootKey returns the empty key. With recording, keys derived from it can be printed. The hashes are the same either
// way.
func RootKey(recording bool) Key {
	if recording {
		return Key{path: recordingRoot}
	}
	return Key{}
}

// hashSegment extends h by one segment. For a fixed label it is a bijection of value, so numbered siblings never
// collide.
func hashSegment(h uint64, kind segmentKind, label, value uint64) uint64 {
	return Mix(Mix(h+label+uint64(kind)*golden) + value*golden)
}

// extended returns k extended by one segment, with the given hash. In the usual case, a key with an actor and no path,
// the methods below avoid this call, because each step of a run calls them several times.
func (k Key) extended(hash uint64, kind segmentKind, l Label, name string, num uint64) Key {
	k.hash = hash
	if k.actor == 0 {
		k.actor = hash
	}
	if k.path != nil {
		k.path = k.path.add(kind, l, name, num)
	}
	return k
}

// At adds the segment "label".
func (k Key) At(l Label) Key {
	hash := hashSegment(k.hash, segmentAt, l.hash, 0)
	if k.path == nil && k.actor != 0 {
		return Key{hash: hash, actor: k.actor}
	}
	return k.extended(hash, segmentAt, l, "", 0)
}

// Num adds the segment "label:n".
func (k Key) Num(l Label, n uint64) Key {
	hash := hashSegment(k.hash, segmentNum, l.hash, n)
	if k.path == nil && k.actor != 0 {
		return Key{hash: hash, actor: k.actor}
	}
	return k.extended(hash, segmentNum, l, "", n)
}

// Name adds the segment "label:name". Hashing a name costs more than hashing a number, so use Name for names that are
// fixed when a run is set up. Name(l, "7") and Num(l, 7) are different segments.
func (k Key) Name(l Label, name string) Key {
	s := NewSegment(l, name)
	return k.Then(&s)
}

// Then adds a segment made by NewSegment.
func (k Key) Then(s *Segment) Key {
	return k.extended(k.then(s), segmentName, s.label, s.name, 0)
}

func (k Key) then(s *Segment) uint64 { return hashSegment(k.hash, segmentName, s.label.hash, s.hash) }

func (p *path) add(kind segmentKind, l Label, name string, num uint64) *path {
	if l.name == "" {
		panic("sim: a key segment with the zero Label; labels come from NewLabel")
	}
	return &path{parent: p, kind: kind, label: l.name, name: name, num: num}
}

// Hash returns the number that represents the key everywhere in the kernel.
func (k Key) Hash() uint64 { return k.hash }

// String returns a recorded key as its segments joined by "/"; the root is "/". A key without a path is returned as "#"
// followed by its hash in 16 hex digits. ParseKey accepts both.
//
// In labels and names, the bytes of "/", ":", "%", "#", white space, control characters and invalid UTF-8 are escaped
// as %XX. If a name is a decimal number, its first digit is escaped too, since a bare number is a segment made by Num.
func (k Key) String() string {
	switch {
	case k.path == nil:
		return fmt.Sprintf("#%016x", k.hash)
	case k.path.kind == segmentRoot:
		return "/"
	}
	return string(k.path.appendTo(nil))
}

func (p *path) appendTo(b []byte) []byte {
	if p.parent.kind != segmentRoot {
		b = append(p.parent.appendTo(b), '/')
	}
	b = appendEscaped(b, p.label)
	switch p.kind {
	case segmentAt:
	case segmentNum:
		b = strconv.AppendUint(append(b, ':'), p.num, 10)
	case segmentName:
		b = append(b, ':')
		if _, number := parseNumber(p.name); number {
			b = fmt.Appendf(b, "%%%02X%s", p.name[0], p.name[1:])
		} else {
			b = appendEscaped(b, p.name)
		}
	default:
		panic(fmt.Sprintf("sim: key segment of kind %d", p.kind))
	}
	return b
}

// MarshalText returns the same text as String.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText parses text like ParseKey.
func (k *Key) UnmarshalText(text []byte) error {
	parsed, err := ParseKey(string(text))
	if err == nil {
		*k = parsed
	}
	return err
}

// ParseKey parses the text returned by String. The result has the same Hash and the same text. Text that String never
// returns, such as one with an unnecessary escape, is an error.
func ParseKey(s string) (Key, error) {
	k, err := parseKey(s)
	if err != nil {
		return Key{}, fmt.Errorf("sim: key %q: %w", s, err)
	}
	if k.String() != s {
		return Key{}, fmt.Errorf("sim: key %q: not in the form that String writes, which is %q", s, k.String())
	}
	return k, nil
}

func parseKey(s string) (Key, error) {
	if hex, ok := strings.CutPrefix(s, "#"); ok {
		hash, err := strconv.ParseUint(hex, 16, 64)
		if err != nil {
			return Key{}, errors.New("want # and 16 hex digits")
		}
		return Key{hash: hash}, nil
	}
	k := RootKey(true)
	if s == "/" {
		return k, nil
	}
	for segment := range strings.SplitSeq(s, "/") {
		rawLabel, value, hasValue := strings.Cut(segment, ":")
		label, err := unescape(rawLabel)
		if err != nil {
			return Key{}, err
		}
		if label == "" {
			return Key{}, errors.New("a segment without a label")
		}
		l := NewLabel(label)
		n, number := parseNumber(value)
		switch {
		case !hasValue:
			k = k.At(l)
		case number:
			k = k.Num(l, n)
		default:
			name, err := unescape(value)
			if err != nil {
				return Key{}, err
			}
			k = k.Name(l, name)
		}
	}
	return k, nil
}

// parseNumber parses a decimal number exactly as written by Num: no sign, no leading zero.
func parseNumber(s string) (n uint64, ok bool) {
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil && strconv.FormatUint(n, 10) == s
}

func appendEscaped(b []byte, s string) []byte {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		invalid := r == utf8.RuneError && size == 1
		if invalid || unicode.IsSpace(r) || unicode.IsControl(r) || r == '/' || r == ':' || r == '%' || r == '#' {
			for _, c := range []byte(s[i : i+size]) {
				b = fmt.Appendf(b, "%%%02X", c)
			}
		} else {
			b = append(b, s[i:i+size]...)
		}
		i += size
	}
	return b
}

func unescape(s string) (string, error) {
	text, err := url.PathUnescape(s)
	if err != nil {
		return "", errors.New("a % without two hex digits")
	}
	return text, nil
}
