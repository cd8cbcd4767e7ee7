package engine

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// VersionRange is the set of versions from Min to Max, both inclusive. By design, the ends compare as numeric triples,
// so a pre-release part of Min or Max is printed but otherwise ignored.
//
// The zero value contains only 0.0.0. A range with Min above Max is empty; it may be passed to a provider, which then
// hands out only unpinned work. In JSON a range is {"min":"1.0.0","max":"1.5.0"}, where a missing end means 0.0.0.
type VersionRange struct {
	Min Version `json:"min"`
	Max Version `json:"max"`
}

// Contains reports whether Min <= v <= Max by numeric triple: [2.0.0, 2.0.0] contains 2.0.0-rc.1.
func (r VersionRange) Contains(v Version) bool { return r.contains(&v) }

func (r *VersionRange) contains(v *Version) bool { return !v.below(&r.Min) && !r.Max.below(v) }

// IsEmpty reports whether Min is above Max. Only such a range contains no version.
func (r VersionRange) IsEmpty() bool { return r.Min.Compare(r.Max) > 0 }

// String returns the form in which the runtime logs a range, such as ">=1.0.0, <=1.5.0". ParseRange accepts the text of
// every range that it has returned.
func (r VersionRange) String() string { return ">=" + r.Min.String() + ", <=" + r.Max.String() }

// MustParseRange is like ParseRange but panics on error. Use it for texts known to be valid, as in tests and tables.
func MustParseRange(s string) VersionRange {
	r, err := ParseRange(s)
	if err != nil {
		panic(err)
	}
	return r
}

// ParseRange compiles a constraint, in the syntax of github.com/Masterminds/semver, into a single inclusive range.
//
// The text is either a list of comparators, separated by spaces or commas, all of which must hold, or a single hyphen
// range:
//
//	1.2.3  =1.2.3          exactly 1.2.3
//	>1.2.3  >=1.2.3        greater than; greater than or equal to; also =>
//	<1.2.3  <=1.2.3        less than; less than or equal to; also =<
//	1.x  1.2.*  1.2  1     any version with this prefix; * alone is any version
//	~1.2.3                 at least 1.2.3 and below 1.3; ~1.2 is 1.2.x and ~1 is 1.x; also ~>
//	^1.2.3                 at least 1.2.3 and below 2; ^0.2.3 is below 0.3; ^0.0.3 is only 0.0.3
//	1.2 - 1.4.5            >=1.2, <=1.4.5
//
// A partial version stands for all versions with that prefix: <=1.4 admits 1.4.7, and >1.4 starts at 1.5.0.
//
// Exclusive ends are compiled to the adjacent version: <1.5.3 becomes <=1.5.2, and >1.2.3 becomes >=1.2.4. If this
// needs a borrow from a higher part, the lower parts become 999: <1.3.0 becomes <=1.2.999, and <2.0.0 becomes
// <=1.999.999. Without an upper end, Max is 999.999.999. The reason for 999 is that a reference provider packs a pin as
// major*1000000 + minor*1000 + patch, so it cannot distinguish parts above 999. Constraints with such parts are
// rejected, and the range is exact for versions whose parts are at most 999.
//
// A pre-release part of a full version is accepted and ignored, because pins and bounds compare as numeric triples:
// <2.0.0-rc.1 means <2.0.0 and excludes 2.0.0-rc.1, and <=2.0.0-rc.1 means <=2.0.0 and admits 2.0.0 itself. This is the
// only case in which an accepted text may have a different meaning than in Masterminds/semver.
//
// The error quotes s, names the mistake and suggests a correction. ParseRange rejects texts that Masterminds/semver
// rejects, texts that are not one contiguous range ("||", "!="), texts that admit nothing (">=2.0.0, <1.0.0"), and
// forms that Masterminds/semver interprets in surprising ways: operators other than =, ~ and >= before *, ~0.0.0 (any
// version), leading zeros, numbers after a wildcard, and a suffix on a partial version.
func ParseRange(s string) (VersionRange, error) {
	if len(s) > semver.MaxConstraintLen {
		return VersionRange{}, fmt.Errorf("range of %d bytes: expected at most %d", len(s), semver.MaxConstraintLen)
	}
	terms, err := splitTerms(s)
	if err != nil {
		return VersionRange{}, fmt.Errorf("range %q: %w", s, err)
	}
	all := VersionRange{Min: bound{}.floor(), Max: bound{}.ceil()}
	for _, t := range terms {
		r, err := t.compile()
		if err != nil {
			return VersionRange{}, fmt.Errorf("range %q: %w", s, err)
		}
		if r.IsEmpty() {
			return VersionRange{}, fmt.Errorf("range %q: admits nothing: no version is %s", s, t)
		}
		if r.Min.Compare(all.Min) > 0 {
			all.Min = r.Min
		}
		if r.Max.Compare(all.Max) < 0 {
			all.Max = r.Max
		}
	}
	if all.IsEmpty() {
		return VersionRange{}, fmt.Errorf("range %q: admits nothing: no version is both at or above %s and at or below %s",
			s, all.Min, all.Max)
	}
	return all, nil
}

var errRangeSyntax = errors.New(`expected comparators such as ">=1.0.0, <2.0.0", "^1.4", "~1.2.3", "1.x", "*" or "1.2 - 1.4.5"`)

// rangeOperators lists the operators of comparators with their canonical spelling. If one operator is a prefix of
// another, the longer one comes first.
var rangeOperators = []struct{ text, op string }{
	{">=", ">="}, {"=>", ">="}, {"<=", "<="}, {"=<", "<="}, {"~>", "~"},
	{">", ">"}, {"<", "<"}, {"=", "="}, {"~", "~"}, {"^", "^"},
}

// rangeSpace holds the characters that count as white space. A no-break space does not.
const rangeSpace = " \t\n\f\r"

// rangeTerm is one comparator: an operator in canonical spelling and the version after it.
type rangeTerm struct {
	op      string
	version string
}

func (t rangeTerm) String() string { return t.op + t.version }

// splitTerms splits a constraint into its comparators, in order. There is at least one. It checks everything but the
// versions.
func splitTerms(s string) ([]rangeTerm, error) {
	if strings.Contains(s, "||") {
		return nil, errors.New(`"||" gives alternatives: expected one contiguous range, a provider filter has no more`)
	}
	if strings.Contains(s, "!=") {
		return nil, errors.New(`"!=" leaves a hole: expected one contiguous range, a provider filter has no more`)
	}
	rest := strings.Trim(s, rangeSpace)
	if rest == "" {
		return nil, fmt.Errorf("empty: %w", errRangeSyntax)
	}
	// A hyphen range stands alone. Its hyphen is surrounded by white space; otherwise it would start a pre-release
	// part.
	if words := strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune(rangeSpace, r) }); len(words) == 3 && words[1] == "-" {
		return []rangeTerm{{">=", words[0]}, {"<=", words[2]}}, nil
	}
	var terms []rangeTerm
	for {
		t := rangeTerm{op: "="}
		for _, o := range rangeOperators {
			if after, ok := strings.CutPrefix(rest, o.text); ok {
				t.op, rest = o.op, strings.TrimLeft(after, rangeSpace)
				break
			}
		}
		end := strings.IndexAny(rest, ","+rangeSpace)
		if end < 0 {
			end = len(rest)
		}
		t.version, rest = rest[:end], strings.TrimLeft(rest[end:], rangeSpace)
		switch t.version {
		case "":
			return nil, fmt.Errorf("a version is missing: %w", errRangeSyntax)
		case "-":
			return nil, fmt.Errorf(`a hyphen range stands alone, with a version on each side: %w`, errRangeSyntax)
		}
		terms = append(terms, t)
		if rest == "" {
			return terms, nil
		}
		rest = strings.TrimLeft(strings.TrimPrefix(rest, ","), rangeSpace)
	}
}

// compile returns the versions that the comparator admits. If it admits none, the range is empty.
func (t rangeTerm) compile() (VersionRange, error) {
	b, err := parseBound(t.version)
	if err != nil {
		return VersionRange{}, err
	}
	lowest, highest := bound{}.floor(), bound{}.ceil()
	nothing := VersionRange{Min: highest, Max: lowest}
	if b.given == 0 && t.op != "=" && t.op != "~" && t.op != ">=" {
		return VersionRange{}, fmt.Errorf("%s bounds nothing: expected * alone or a number after %s", t, t.op)
	}
	switch t.op {
	case "=":
		return VersionRange{Min: b.floor(), Max: b.ceil()}, nil
	case ">=":
		return VersionRange{Min: b.floor(), Max: highest}, nil
	case "<=":
		return VersionRange{Min: lowest, Max: b.ceil()}, nil
	case ">":
		if next, ok := successor(b.ceil()); ok {
			return VersionRange{Min: next, Max: highest}, nil
		}
		return nothing, nil
	case "<":
		if previous, ok := predecessor(b.floor()); ok {
			return VersionRange{Min: lowest, Max: previous}, nil
		}
		return nothing, nil
	case "~":
		if b == (bound{given: 3}) {
			return VersionRange{}, fmt.Errorf("%s is any version in this syntax: expected 0.0.x or *", t)
		}
		return VersionRange{Min: b.floor(), Max: b.prefix(min(b.given, 2)).ceil()}, nil
	case "^":
		return VersionRange{Min: b.floor(), Max: b.prefix(b.significant()).ceil()}, nil
	default:
		panic(fmt.Sprintf("engine: comparator %q has an unknown operator", t))
	}
}

// rangePartMax is the highest value of a bound's parts. Above it, two versions may have the same packed form.
const rangePartMax = 999

// bound is the version in a comparator. Its first given parts are fixed and the others are open.
//
// Invariant: 0 <= given <= 3, parts from given on are 0, and no part is above rangePartMax.
type bound struct {
	parts [3]uint32
	given int
}

// parseBound parses a version of up to three parts. The last ones may be wildcards, and a leading "v" is allowed.
func parseBound(s string) (bound, error) {
	text := strings.TrimPrefix(s, "v")
	core, suffix := text, ""
	if i := strings.IndexAny(text, "-+"); i >= 0 {
		core, suffix = text[:i], text[i:]
	}
	words := strings.Split(core, ".")
	var b bound
	for i, word := range words {
		wild := word == "x" || word == "X" || word == "*"
		if !wild && (word == "" || strings.Trim(word, "0123456789") != "") {
			return bound{}, fmt.Errorf("%q is no version: %w", s, errRangeSyntax)
		}
		if i == len(b.parts) {
			return bound{}, fmt.Errorf("%q has %d parts: expected at most three", s, len(words))
		}
		if wild {
			continue
		}
		if b.given < i {
			return bound{}, fmt.Errorf("%q has a number after a wildcard: expected wildcards only", s)
		}
		if len(word) > 1 && word[0] == '0' {
			return bound{}, fmt.Errorf("%q has a part with a leading zero", s)
		}
		n, err := strconv.ParseUint(word, 10, 32)
		if err != nil || n > rangePartMax {
			return bound{}, fmt.Errorf("%q has part %s: expected at most %d, a provider packs three digits a part",
				s, word, rangePartMax)
		}
		b.parts[i] = uint32(n)
		b.given = i + 1
	}
	if suffix == "" {
		return b, nil
	}
	if b.given < 3 {
		return bound{}, fmt.Errorf("%q: a suffix needs a full version in front, the hyphen of a range needs spaces around it", s)
	}
	if _, err := ParseVersion(text); err != nil {
		return bound{}, err
	}
	return b, nil
}

func (b bound) floor() Version { return V(b.parts[0], b.parts[1], b.parts[2]) }

func (b bound) ceil() Version {
	for i := b.given; i < len(b.parts); i++ {
		b.parts[i] = rangePartMax
	}
	return V(b.parts[0], b.parts[1], b.parts[2])
}

// prefix returns the bound with only its first n parts given. n must be at most b.given.
func (b bound) prefix(n int) bound {
	for i := n; i < len(b.parts); i++ {
		b.parts[i] = 0
	}
	b.given = n
	return b
}

// significant counts the given parts up to and including the first nonzero one, or all of them if all are zero. These
// are the parts that ^ keeps.
func (b bound) significant() int {
	for i := range b.given {
		if b.parts[i] != 0 {
			return i + 1
		}
	}
	return b.given
}

// successor returns the next version above v with no part above rangePartMax, and whether there is one.
func successor(v Version) (Version, bool) {
	switch {
	case v.Patch < rangePartMax:
		return V(v.Major, v.Minor, v.Patch+1), true
	case v.Minor < rangePartMax:
		return V(v.Major, v.Minor+1, 0), true
	default:
		return V(v.Major+1, 0, 0), v.Major < rangePartMax
	}
}

// predecessor returns the next version below v with no part above rangePartMax, and whether there is one.
func predecessor(v Version) (Version, bool) {
	switch {
	case v.Patch > 0:
		return V(v.Major, v.Minor, v.Patch-1), true
	case v.Minor > 0:
		return V(v.Major, v.Minor-1, rangePartMax), true
	case v.Major > 0:
		return V(v.Major-1, rangePartMax, rangePartMax), true
	default:
		return Version{}, false
	}
}
