package engine

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"github.com/Masterminds/semver/v3"
)

// Version is the semantic version of a build or of an orchestration: a numeric triple and the text of the pre-release
// part ("rc.1" in "2.0.0-rc.1"). The zero value is 0.0.0.
//
// The build part of a semantic version ("+linux") is dropped. It does not affect ordering and no provider stores it,
// and without it two Versions are == exactly when they print alike.
type Version struct {
	Major, Minor, Patch uint32
	Pre                 string
}

// V returns the release major.minor.patch.
func V(major, minor, patch uint32) Version {
	return Version{Major: major, Minor: minor, Patch: patch}
}

// ParseVersion parses "1.2.3", with an optional pre-release part "-rc.1" and an optional build part "+linux", which is
// dropped.
//
// The text must be a complete semantic version: three parts, no leading "v", no leading zeros, no spaces. For anything
// else, or if a part is above 4294967295, ParseVersion returns an error that quotes s.
func ParseVersion(s string) (Version, error) {
	if v, ok := parseTriple(s); ok {
		return v, nil
	}
	sv, err := semver.StrictNewVersion(s)
	if err != nil {
		return Version{}, fmt.Errorf("version %q: %w; expected MAJOR.MINOR.PATCH such as 1.2.3 or 1.2.3-rc.1", s, err)
	}
	for _, part := range []uint64{sv.Major(), sv.Minor(), sv.Patch()} {
		if part > math.MaxUint32 {
			return Version{}, fmt.Errorf("version %q: part %d is above %d", s, part, uint32(math.MaxUint32))
		}
	}
	return Version{uint32(sv.Major()), uint32(sv.Minor()), uint32(sv.Patch()), sv.Prerelease()}, nil
}

// parseTriple is a fast path for plain releases whose parts have at most nine digits, as nearly all versions do. For
// every other text, valid or not, ok is false.
func parseTriple(s string) (v Version, ok bool) {
	parts := [...]*uint32{&v.Major, &v.Minor, &v.Patch}
	part, from := 0, 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && s[i] != '.' {
			if s[i] < '0' || s[i] > '9' || i-from == 9 || i > from && s[from] == '0' {
				return Version{}, false
			}
			*parts[part] = *parts[part]*10 + uint32(s[i]-'0')
			continue
		}
		if i == from || (part == 2) != (i == len(s)) {
			return Version{}, false
		}
		part, from = part+1, i+1
	}
	return v, true
}

// MustParseVersion is like ParseVersion but panics on error. Use it for texts known to be valid, as in tests and
// tables.
func MustParseVersion(s string) Version {
	v, err := ParseVersion(s)
	if err != nil {
		panic(err)
	}
	return v
}

// String returns the version in the form that ParseVersion accepts: "1.2.3" or "1.2.3-rc.1".
func (v Version) String() string {
	b := v.appendTriple(make([]byte, 0, 16))
	if v.Pre != "" {
		b = append(append(b, '-'), v.Pre...)
	}
	return string(b)
}

func (v Version) appendTriple(b []byte) []byte {
	b = append(strconv.AppendUint(b, uint64(v.Major), 10), '.')
	b = append(strconv.AppendUint(b, uint64(v.Minor), 10), '.')
	return strconv.AppendUint(b, uint64(v.Patch), 10)
}

// Compare returns -1, 0 or +1 if v is below, equal to or above w, comparing (Major, Minor, Patch) only.
//
// Pre is ignored, so 2.0.0-rc.1 and 2.0.0 compare as equal although they are not ==. This is by design: a provider
// stores only three integers of a pin, so pins and bounds compare as numeric triples everywhere.
func (v Version) Compare(w Version) int {
	switch {
	case v.Major != w.Major:
		return cmp.Compare(v.Major, w.Major)
	case v.Minor != w.Minor:
		return cmp.Compare(v.Minor, w.Minor)
	}
	return cmp.Compare(v.Patch, w.Patch)
}

// Precedence returns -1, 0 or +1 if v is below, equal to or above w in the order of semantic versions, in which 2.0.0-rc.1
// comes before 2.0.0. Handler versions and the thresholds of semantics compare so (docs/contract/runtime.md#r8).
func (v Version) Precedence(w Version) int {
	if c := v.Compare(w); c != 0 || v.Pre == w.Pre {
		return c
	}
	return semver.New(0, 0, 0, v.Pre, "").Compare(semver.New(0, 0, 0, w.Pre, ""))
}

// below reports whether v.Compare(*w) < 0 without copying either. Filters call it in every fetch.
func (v *Version) below(w *Version) bool {
	if v.Major != w.Major {
		return v.Major < w.Major
	}
	return v.Minor < w.Minor || v.Minor == w.Minor && v.Patch < w.Patch
}

// IsZero reports whether v is the zero value. 0.0.0-alpha is not.
func (v Version) IsZero() bool { return v == Version{} }

// Triple returns v without its pre-release part. v.Compare(w) == 0 exactly when v.Triple() == w.Triple().
func (v Version) Triple() Version { return V(v.Major, v.Minor, v.Patch) }

// MarshalText returns the text of String. It never fails.
func (v Version) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText sets v to the version in text, under the rules of ParseVersion. On error v is unchanged.
func (v *Version) UnmarshalText(text []byte) error {
	parsed, err := ParseVersion(string(text))
	if err != nil {
		return err
	}
	*v = parsed
	return nil
}
