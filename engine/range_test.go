package engine

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"pgregory.net/rapid"
)

func ExampleParseRange() {
	for _, text := range []string{">=1.0.0, <2.0.0", "^1.4", "<1.5.3", "1.2 - 1.4.5", "^1 || ^3", ">=2.0.0, <1.0.0"} {
		r, err := ParseRange(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(r)
	}
	// Output:
	// >=1.0.0, <=1.999.999
	// >=1.4.0, <=1.999.999
	// >=0.0.0, <=1.5.2
	// >=1.2.0, <=1.4.5
	// range "^1 || ^3": "||" gives alternatives: expected one contiguous range, a provider filter has no more
	// range ">=2.0.0, <1.0.0": admits nothing: no version is both at or above 2.0.0 and at or below 0.999.999
}

func ExampleVersionRange_Contains() {
	r := MustParseRange(">=1.0.0, <=2.0.0")
	fmt.Println(r.Contains(V(1, 5, 0)), r.Contains(MustParseVersion("2.0.0-rc.1")), r.Contains(V(2, 0, 1)))
	// Output:
	// true true false
}

// TestParseRange checks what no other library says, since there a pre-release part makes another bound. All other forms are
// drawn by TestParseRangeAgreesWithMasterminds.
func TestParseRange(t *testing.T) {
	top := V(999, 999, 999)
	for _, c := range []struct {
		text     string
		min, max Version
	}{
		{"2.0.0-rc.1", V(2, 0, 0), V(2, 0, 0)}, {"<2.0.0-rc.1", V(0, 0, 0), V(1, 999, 999)},
		{"<=2.0.0-rc.1", V(0, 0, 0), V(2, 0, 0)}, {">2.0.0-rc.1", V(2, 0, 1), top}, {">=2.0.0-rc.1", V(2, 0, 0), top},
		{"^2.0.0-rc.1+linux", V(2, 0, 0), V(2, 999, 999)}, {"1.0.0-a - 2.0.0-b", V(1, 0, 0), V(2, 0, 0)},
		{"1.2.3+a-b", V(1, 2, 3), V(1, 2, 3)},
	} {
		want := VersionRange{Min: c.min, Max: c.max}
		if got, err := ParseRange(c.text); err != nil || got != want {
			t.Errorf("ParseRange(%q) = %v, %v; want %v", c.text, got, err, want)
		}
	}
}

func TestParseRangeRefuses(t *testing.T) {
	const syntax = `expected comparators such as ">=1.0.0, <2.0.0", "^1.4", "~1.2.3", "1.x", "*" or "1.2 - 1.4.5"`
	for _, c := range []struct{ text, why string }{
		{"", "empty: " + syntax},
		{" \t", "empty: " + syntax},
		{"^1 || ^3", `"||" gives alternatives: expected one contiguous range, a provider filter has no more`},
		{"!=1.2.3", `"!=" leaves a hole: expected one contiguous range, a provider filter has no more`},
		{">=1.0.0, !=1.2.3", `"!=" leaves a hole: expected one contiguous range, a provider filter has no more`},

		{">=2.0.0, <1.0.0", "admits nothing: no version is both at or above 2.0.0 and at or below 0.999.999"},
		{">1.2.3 <1.2.4", "admits nothing: no version is both at or above 1.2.4 and at or below 1.2.3"},
		{"1.2.3 1.2.4", "admits nothing: no version is both at or above 1.2.4 and at or below 1.2.3"},
		{"2 - 1", "admits nothing: no version is both at or above 2.0.0 and at or below 1.999.999"},
		{"<0.0.0", "admits nothing: no version is <0.0.0"},
		{"<0", "admits nothing: no version is <0"},
		{">999.999.999", "admits nothing: no version is >999.999.999"},
		{">999", "admits nothing: no version is >999"},

		{">*", ">* bounds nothing: expected * alone or a number after >"},
		{"<x", "<x bounds nothing: expected * alone or a number after <"},
		{"<=*", "<=* bounds nothing: expected * alone or a number after <="},
		{"^*", "^* bounds nothing: expected * alone or a number after ^"},
		{"1.2 - *", "<=* bounds nothing: expected * alone or a number after <="},
		{"~0.0.0", "~0.0.0 is any version in this syntax: expected 0.0.x or *"},
		{"~0.0.0-a", "~0.0.0-a is any version in this syntax: expected 0.0.x or *"},

		{">=", "a version is missing: " + syntax},
		{",", "a version is missing: " + syntax},
		{">=1.0.0,", "a version is missing: " + syntax},
		{">=1.0.0,,<2.0.0", "a version is missing: " + syntax},
		{"1.0.0 - 2.0.0, <1.5.0", "a hyphen range stands alone, with a version on each side: " + syntax},
		{"1 - ", "a hyphen range stands alone, with a version on each side: " + syntax},
		{">1 - 2", `">1" is no version: ` + syntax},
		{"latest", `"latest" is no version: ` + syntax},
		{">=1.0.0<2.0.0", `"1.0.0<2.0.0" is no version: ` + syntax},
		{"> =1.0.0", `"=1.0.0" is no version: ` + syntax},
		{"1.2.", `"1.2." is no version: ` + syntax},
		{"1.2x", `"1.2x" is no version: ` + syntax},
		{"-1", `"-1" is no version: ` + syntax},
		{"1.0.0\u00a0", `"1.0.0\u00a0" is no version: ` + syntax},
		{"1.2.3.4", `"1.2.3.4" has 4 parts: expected at most three`},
		{"1.x.3", `"1.x.3" has a number after a wildcard: expected wildcards only`},
		{"1.02", `"1.02" has a part with a leading zero`},
		{"<1000", `"1000" has part 1000: expected at most 999, a provider packs three digits a part`},
		{"1.2.99999999999999999999", `"1.2.99999999999999999999" has part 99999999999999999999: expected at most 999, a provider packs three digits a part`},
		{"1.2-1.4", `"1.2-1.4": a suffix needs a full version in front, the hyphen of a range needs spaces around it`},
		{"1.2.3-", `version "1.2.3-": invalid prerelease string; expected MAJOR.MINOR.PATCH such as 1.2.3 or 1.2.3-rc.1`},
	} {
		want := fmt.Sprintf("range %q: %s", c.text, c.why)
		got, err := ParseRange(c.text)
		if err == nil || err.Error() != want || got != (VersionRange{}) {
			t.Errorf("ParseRange(%q)\n got %v, %v\nwant %s", c.text, got, err, want)
		}
	}
	if _, err := ParseRange(strings.Repeat("*", 513)); err == nil || err.Error() != "range of 513 bytes: expected at most 512" {
		t.Errorf("ParseRange of 513 bytes: %v", err)
	}
}

func TestVersionRangeEnds(t *testing.T) {
	rc := MustParseVersion("2.0.0-rc.1")
	r := VersionRange{Min: V(1, 0, 0), Max: rc}
	if got := r.String(); got != ">=1.0.0, <=2.0.0-rc.1" {
		t.Errorf("String = %q", got)
	}
	for _, v := range []Version{V(1, 0, 0), MustParseVersion("1.0.0-a"), V(1, 1000, 0), V(2, 0, 0), rc} {
		if !r.Contains(v) {
			t.Errorf("%v does not contain %v", r, v)
		}
	}
	for _, v := range []Version{{}, V(0, 999, 999), V(2, 0, 1), MustParseVersion("2.0.1-a")} {
		if r.Contains(v) {
			t.Errorf("%v contains %v", r, v)
		}
	}
	inverted := VersionRange{Min: V(2, 0, 0), Max: V(1, 0, 0)}
	if r.IsEmpty() || (VersionRange{}).IsEmpty() || !inverted.IsEmpty() || inverted.Contains(V(1, 5, 0)) {
		t.Error("empty is not the same as inverted")
	}
	if (VersionRange{Min: V(2, 0, 0), Max: rc}).IsEmpty() {
		t.Error("a pre-release part made a range empty")
	}
}

func TestVersionRangeJSON(t *testing.T) {
	r := VersionRange{Min: V(1, 0, 0), Max: V(1, 5, 0)}
	data, err := json.Marshal(r)
	if err != nil || string(data) != `{"min":"1.0.0","max":"1.5.0"}` {
		t.Errorf("json.Marshal = %s, %v", data, err)
	}
	var got VersionRange
	if err := json.Unmarshal(data, &got); err != nil || got != r {
		t.Errorf("json.Unmarshal(%s) = %v, %v", data, got, err)
	}
	if err := json.Unmarshal([]byte(`{"min":"1","max":"2.0.0"}`), &got); err == nil {
		t.Error("json.Unmarshal took the version 1")
	}
}

// drawPart draws a part of a version, most often one that makes bounds meet or borrow.
func drawPart(t *rapid.T) uint32 {
	return rapid.OneOf(rapid.Uint32Range(0, 3), rapid.SampledFrom([]uint32{0, 998, 999}), rapid.Uint32Range(0, 999)).Draw(t, "part")
}

// drawConstraint draws a constraint of the grammar of ParseRange without the forms that it rejects, and without the one
// form that it means to read differently: a pre-release part after =, > or <=.
func drawConstraint(t *rapid.T) string {
	version := func(op string) string {
		given := rapid.IntRange(0, 3).Draw(t, "given")
		if given == 0 && op != "" && op != "=" && op != "~" && op != "~>" && op != ">=" && op != "=>" {
			given = 1
		}
		var words []string
		zero := true
		for range given {
			n := drawPart(t)
			zero = zero && n == 0
			words = append(words, fmt.Sprint(n))
		}
		if given == 3 && zero && (op == "~" || op == "~>") {
			words[2] = "1"
		}
		for len(words) < 3 && (len(words) == 0 || rapid.Bool().Draw(t, "wildcard")) {
			words = append(words, rapid.SampledFrom([]string{"x", "X", "*"}).Draw(t, "x"))
		}
		text := rapid.SampledFrom([]string{"", "", "v"}).Draw(t, "v") + strings.Join(words, ".")
		if given == 3 && op != "" && strings.Contains(">= => < ~ ~> ^", op) && op != ">" && op != "=" {
			text += rapid.SampledFrom([]string{"", "", "-rc.1", "-0"}).Draw(t, "pre")
		}
		if given == 3 {
			text += rapid.SampledFrom([]string{"", "", "", "+b.1-c"}).Draw(t, "build")
		}
		return text
	}
	space := func() string { return rapid.SampledFrom([]string{"", " ", "\t "}).Draw(t, "space") }
	if rapid.IntRange(0, 5).Draw(t, "form") == 0 {
		return space() + version(">=") + " " + space() + "- " + space() + version("<=") + space()
	}
	// One comparator usually admits some version, three together hardly ever do.
	all := []string{"", "=", ">", ">=", "=>", "<", "<=", "=<", "~", "~>", "^"}
	count := rapid.SampledFrom([]int{1, 1, 1, 2, 2, 3}).Draw(t, "comparators")
	ops := rapid.SliceOfN(rapid.SampledFrom(all), count, count).Draw(t, "operators")
	text := space()
	for i, op := range ops {
		if i > 0 {
			text += space() + rapid.SampledFrom([]string{",", " "}).Draw(t, "separator") + space()
		}
		text += op + space() + version(op)
	}
	return text + space()
}

// drawReleases draws releases with parts up to 999, most of them made of the numbers in text and their neighbours.
func drawReleases(t *rapid.T, text string) []Version {
	near := []uint32{0, 999}
	for _, number := range regexp.MustCompile(`[0-9]+`).FindAllString(text, -1) {
		var n uint32
		if _, err := fmt.Sscan(number, &n); err != nil || n > 999 {
			continue
		}
		near = append(near, n, min(n+1, 999), max(n, 1)-1)
	}
	part := rapid.OneOf(rapid.SampledFrom(near), rapid.SampledFrom(near), rapid.Uint32Range(0, 999))
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Version {
		return V(part.Draw(t, "major"), part.Draw(t, "minor"), part.Draw(t, "patch"))
	}), 20, 40).Draw(t, "releases")
}

func masterminds(c *semver.Constraints, v Version) bool {
	return c.Check(semver.New(uint64(v.Major), uint64(v.Minor), uint64(v.Patch), "", ""))
}

func TestParseRangeAgreesWithMasterminds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Several texts a check: a hundred are few for eleven operators, each with its own rules for 0 and for parts
		// that are not given.
		for _, text := range rapid.SliceOfN(rapid.Custom(drawConstraint), 10, 20).Draw(t, "texts") {
			c, err := semver.NewConstraint(text)
			if err != nil {
				t.Fatalf("the generator drew %q: %v", text, err)
			}
			r, err := ParseRange(text)
			if err != nil && !strings.Contains(err.Error(), "admits nothing") {
				t.Fatal(err)
			}
			for _, v := range append(drawReleases(t, text), edges(r)...) {
				if got, want := err == nil && r.Contains(v), masterminds(c, v); got != want {
					t.Fatalf("%q compiled to %v, %v: contains %v is %t, Masterminds says %t", text, r, err, v, got, want)
				}
			}
		}
	})
}

// edges returns the releases just inside and just outside of r, and the lowest and highest of all. It steps by packed
// form, so that a wrong successor in ParseRange is not hidden by the same wrong step here.
func edges(r VersionRange) []Version {
	pack := func(v Version) uint32 { return v.Major*1e6 + v.Minor*1e3 + v.Patch }
	all := []Version{{}, V(999, 999, 999)}
	for _, end := range []uint32{pack(r.Min), pack(r.Max)} {
		for _, n := range []uint32{max(end, 1) - 1, end, min(end+1, 1e9-1)} {
			all = append(all, V(n/1e6, n/1e3%1e3, n%1e3))
		}
	}
	return all
}

func checkRangeText(t interface{ Fatalf(string, ...any) }, text string) {
	r, err := ParseRange(text)
	if err != nil {
		if r != (VersionRange{}) {
			t.Fatalf("ParseRange(%q) = %v with error %v", text, r, err)
		}
		return
	}
	if r.IsEmpty() || V(999, 999, 999).Compare(r.Max) < 0 {
		t.Fatalf("ParseRange(%q) = %v", text, r)
	}
	if again, err := ParseRange(r.String()); err != nil || again != r {
		t.Fatalf("ParseRange(%q) = %v, but its text gives %v, %v", text, r, again, err)
	}
	c, err := semver.NewConstraint(text)
	if err != nil {
		t.Fatalf("ParseRange(%q) = %v, but Masterminds refuses it: %v", text, r, err)
	}
	if preRelease.MatchString(text) {
		return
	}
	for _, v := range edges(r) {
		if got, want := r.Contains(v), masterminds(c, v); got != want {
			t.Fatalf("%q compiled to %v: contains %v is %t, Masterminds says %t", text, r, v, got, want)
		}
	}
}

// preRelease finds a pre-release part. The hyphen of a hyphen range has a space in front.
var preRelease = regexp.MustCompile(`[0-9]-`)

func FuzzParseRange(f *testing.F) {
	for _, text := range []string{
		">=1.0.0, <2.0.0", "^1.4", "~1.2.3", "1.x", "1.2.*", "*", ">=0.0.0, <=1.5.0", "=1.2.3", "1.2 - 1.4.5", ">1.2.3",
		"<2.0.0-rc.1", "1.2.3-a - 2", "^1 || ^3", "!=1", "=> v1.2.3+b,\t~>1", "<=*", "~0.0.0", "<0.0.0", ">=1.0.0 1 - 2",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkRangeText(t, text) })
}
