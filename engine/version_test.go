package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"pgregory.net/rapid"

	"github.com/durosim/durosim/internal/sample"
)

func ExampleParseVersion() {
	v, err := ParseVersion("2.0.0-rc.1+linux")
	fmt.Println(v, err)

	_, err = ParseVersion("v2.0")
	fmt.Println(err)
	// Output:
	// 2.0.0-rc.1 <nil>
	// version "v2.0": invalid semantic version; expected MAJOR.MINOR.PATCH such as 1.2.3 or 1.2.3-rc.1
}

func ExampleVersion_Compare() {
	fmt.Println(V(1, 9, 0).Compare(V(1, 10, 0)))
	fmt.Println(MustParseVersion("2.0.0-rc.1").Compare(V(2, 0, 0)))
	// Output:
	// -1
	// 0
}

func TestParseVersion(t *testing.T) {
	for _, c := range []struct {
		text string
		want Version
	}{
		{"0.0.0", Version{}},
		{"1.2.3", V(1, 2, 3)},
		{"99.99.99", V(99, 99, 99)},
		{"4294967295.4294967295.4294967295", V(math.MaxUint32, math.MaxUint32, math.MaxUint32)},
		{"2.0.0-rc.1", Version{2, 0, 0, "rc.1"}}, {"1.0.0-0.3.7", Version{1, 0, 0, "0.3.7"}},
		{"1.0.0--", Version{1, 0, 0, "-"}}, {"1.0.0+linux.amd64", V(1, 0, 0)},
		{"1.0.0-beta+exp.sha-5114f85", Version{1, 0, 0, "beta"}},
	} {
		got, err := ParseVersion(c.text)
		if err != nil || got != c.want {
			t.Errorf("ParseVersion(%q) = %v, %v; want %v", c.text, got, err, c.want)
		}
	}
}

// TestParseTriple checks that the fast path of ParseVersion gives the same result as the slow one, or leaves the text to
// it.
func TestParseTriple(t *testing.T) {
	part := rapid.StringMatching(`[019]{0,11}|[0-9]{1,9}|x`)
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "parts"), ".") + rapid.SampledFrom([]string{"", "", "", ".", "-1"}).Draw(t, "rest")
	})
	rapid.Check(t, func(t *rapid.T) {
		s := text.Draw(t, "text")
		got, ok := parseTriple(s)
		sv, err := semver.StrictNewVersion(s)
		if ok && (err != nil || got.String() != sv.String()) {
			t.Fatalf("%q is %v, want %v, %v", s, got, sv, err)
		}
		if plain := err == nil && sv.Prerelease() == "" && max(sv.Major(), sv.Minor(), sv.Patch()) < 1e9; ok != plain {
			t.Fatalf("%q takes the short way: %v", s, ok)
		}
	})
}

func TestParseVersionRefusesAndQuotes(t *testing.T) {
	for _, text := range []string{
		"", " ", "1", "1.2", "1.2.", "1..3", "1.2.3.4", "v1.2.3", " 1.2.3", "1.2.3 ", "01.2.3", "1.02.3", "1.2.03", "1.2.x",
		"-1.2.3", "1.2.3-", "1.2.3+", "1.2.3-a..b", "1.2.3-01", "1.2.3-ä", "1.2.3+a_b", "one",
		"4294967296.0.0", "0.4294967296.0", "0.0.4294967296", "99999999999999999999.0.0",
	} {
		got, err := ParseVersion(text)
		if err == nil {
			t.Errorf("ParseVersion(%q) = %v, want an error", text, got)
			continue
		}
		if got != (Version{}) || !strings.HasPrefix(err.Error(), fmt.Sprintf("version %q: ", text)) {
			t.Errorf("ParseVersion(%q) = %v, %q; want the zero value and the text quoted", text, got, err)
		}
	}
}

func TestParseVersionKeepsCause(t *testing.T) {
	if _, err := ParseVersion("1.02.3"); !errors.Is(err, semver.ErrSegmentStartsZero) {
		t.Errorf("ParseVersion(1.02.3): %v, want it to wrap %v", err, semver.ErrSegmentStartsZero)
	}
}

func TestMustParsePanics(t *testing.T) {
	sample.Panics(t, "", func() { MustParseVersion("1.2") })
	sample.Panics(t, "", func() { MustParseRange("!=1.0.0") })
}

func TestCompareIgnoresPreRelease(t *testing.T) {
	// In semantic version order each of these precedes the next; as triples they are equal.
	same := []string{"2.0.0-0", "2.0.0-alpha", "2.0.0-rc.1", "2.0.0-rc.2", "2.0.0", "2.0.0+linux"}
	for _, a := range same {
		for _, b := range same {
			if got := MustParseVersion(a).Compare(MustParseVersion(b)); got != 0 {
				t.Errorf("%s.Compare(%s) = %d, want 0", a, b, got)
			}
		}
	}
	ascending := []string{"0.0.0", "0.0.1-z", "0.0.1000", "0.1.0-a", "0.999.999", "1.0.0-rc.1", "1.9.0", "1.10.0-a", "4294967295.0.0"}
	for i, a := range ascending {
		for j, b := range ascending {
			want := min(max(i-j, -1), 1)
			if got := MustParseVersion(a).Compare(MustParseVersion(b)); got != want {
				t.Errorf("%s.Compare(%s) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestVersionTripleAndIsZero(t *testing.T) {
	rc := MustParseVersion("2.0.0-rc.1")
	if rc.Triple() != V(2, 0, 0) || rc.Pre != "rc.1" {
		t.Errorf("Triple of %v = %v", rc, rc.Triple())
	}
	if !V(0, 0, 0).IsZero() || V(0, 0, 1).IsZero() || MustParseVersion("0.0.0-a").IsZero() {
		t.Error("IsZero holds of something else than 0.0.0")
	}
}

func drawVersion(t *rapid.T) Version {
	return Version{
		Major: rapid.Uint32().Draw(t, "major"),
		Minor: rapid.Uint32().Draw(t, "minor"),
		Patch: rapid.Uint32().Draw(t, "patch"),
		Pre:   rapid.StringMatching(`|(0|[1-9][0-9]{0,3}|[0-9]{0,2}[a-zA-Z-][0-9a-zA-Z-]{0,3})(\.(0|[a-z-]{1,3})){0,2}`).Draw(t, "pre"),
	}
}

func TestVersionTextRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawVersion(t)
		if got, err := ParseVersion(v.String()); err != nil || got != v {
			t.Fatalf("ParseVersion(%q) = %v, %v", v, got, err)
		}
		data, err := json.Marshal(v)
		if err != nil || string(data) != `"`+v.String()+`"` {
			t.Fatalf("json.Marshal(%v) = %s, %v", v, data, err)
		}
		var got Version
		if err := json.Unmarshal(data, &got); err != nil || got != v {
			t.Fatalf("json.Unmarshal(%s) = %v, %v", data, got, err)
		}
	})
}

func TestVersionUnmarshalTextKeepsValueOnError(t *testing.T) {
	v := V(1, 2, 3)
	if err := v.UnmarshalText([]byte("1.2")); err == nil || v != V(1, 2, 3) {
		t.Errorf("UnmarshalText(1.2): %v, %v; want an error and 1.2.3 unchanged", v, err)
	}
}
