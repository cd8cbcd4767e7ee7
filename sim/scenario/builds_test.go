package scenario

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/plan"
)

// TestDeclaredBuilds checks that a declared build is like another one, except for its lines.
func TestDeclaredBuilds(t *testing.T) {
	s := sample.Must(Parse("x.txt", []byte(`build 1.7.0 like 1.6.0
  reads with ExternalSubscribed2 ExternalEvent2 without LegacyNote
build 1.8.0+4.0.0 like 1.7.0
  range >=1.5.0, <=1.8.0
  writes with ExternalSubscribed2
build 1.6.0+1.7.0 like 1.7.0
build 2.0.0 like 2.0.0
  handlers without Ship ProcessOrder@1.0.0
node A runs 1.7.0
node B runs 1.8.0+4.0.0
node C runs 2.0.0
`)))(t)
	all := sample.Must(s.Template.AllBuilds(engine.ShippedBuilds()))(t)
	type built struct {
		Name, Range          string
		Reads, Writes, Since []string
	}
	var got []built
	for _, name := range []string{"1.7.0", "1.8.0+4.0.0", "2.0.0", "3.0.0"} {
		b := plan.FindBuild(all, name)
		x := built{Name: b.Name(), Range: b.DefaultRange.String()}
		for _, k := range plan.VariableKinds() {
			if b.Codec.Kinds().Has(k) {
				x.Reads = append(x.Reads, string(k))
			}
			if b.Emits.Has(k) {
				x.Writes = append(x.Writes, string(k))
			}
		}
		for _, in := range b.Introduced {
			x.Since = append(x.Since, string(in.Kind)+" "+in.Since.String())
		}
		slices.Sort(x.Since)
		got = append(got, x)
	}
	young := []string{"ExternalSubscribed2", "ExternalEvent2"}
	since := []string{"ExternalEvent2 1.7.0", "ExternalSubscribed2 1.7.0", "LegacyNote 2.0.0"}
	want := []built{
		{"1.7.0", ">=0.0.0, <=1.7.0", young, nil, since[:2]},
		{"1.8.0+4.0.0", ">=1.5.0, <=1.8.0", young, young[:1], since[:2]},
		{"2.0.0", ">=0.0.0, <=2.0.0", append(slices.Clone(young), "LegacyNote"), young, since},
		{"3.0.0", ">=1.0.0, <=3.0.0", young, young, since},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("builds (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Ship", "ProcessOrder@1.0.0"}, s.Template.Declared("2.0.0").Handlers.Without); diff != "" {
		t.Error(diff)
	}
}

// TestDeclaredBuildsRefused: each mistake in a declared build is told with its line, and what is odd is a warning.
func TestDeclaredBuildsRefused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"build 2.1.0", `x.txt:1: the line ends too early: expected "like", as in: build NAME like BUILD`},
		{"build 2.1.0 like 2.0.1", `x.txt:1: unknown build "2.0.1"; did you mean 2.0.0?`},
		{"build 2.1.0 like duroxide 0.1.32", "x.txt:1: build 2.1.0: like duroxide-0.1.32: a released runtime cannot be changed; want one of 0.8.0, "},
		{"build mine like 2.0.0", `x.txt:1: build mine: version "mine": invalid semantic version; expected MAJOR.MINOR.PATCH such as 1.2.3 or 1.2.3-rc.1, or VERSION+APPLICATION, such as 2.1.0+1.0.0`},
		{"build 2.1.0+ like 2.0.0", "x.txt:1: build 2.1.0+: no application after the +"},
		{"build 2.1.0 like 2.0.0\nbuild 2.1.0 like 1.5.0", `x.txt:2: duplicate build "2.1.0": line 1 has it`},
		{"node A runs 2.1.0\nbuild 2.1.0 like 2.0.0", `x.txt:1: build "2.1.0" is declared in line 2, and must be declared above this line`},
		{"range >=1.0.0", "x.txt:1: expected this line below a build, as in: range RANGE"},
		{"node A runs 1.5.0\n  reads with LegacyNote", "x.txt:2: expected this line below a build, as in: reads [with"},
		{"build 2.1.0 like 2.0.0\n  range 1.x\n  range 2.x", `x.txt:3: duplicate range of build "2.1.0": line 2 has it`},
		{"build 2.1.0 like 2.0.0\n  range 3.0.0..1.0.0", "x.txt:2: the range >=3.0.0, <=1.0.0 admits no version"},
		{"build 2.1.0 like 2.0.0\n  reads", "x.txt:2: the line ends too early: expected a clause, as in: reads [with KIND...]"},
		{"build 2.1.0 like 2.0.0\n  reads LegacyNote", `x.txt:2: unexpected "LegacyNote": expected with or without`},
		{"build 2.1.0 like 2.0.0\n  reads without LegcyNote", `x.txt:2: unknown kind of event "LegcyNote"; did you mean LegacyNote?`},
		{"build 2.1.0 like 2.0.0\n  reads without TimerFired", `x.txt:2: unknown kind of event "TimerFired": expected ExternalSubscribed2, ExternalEvent2 or LegacyNote`},
		{"build 2.1.0 like 2.0.0\n  reads with LegacyNote without LegacyNote", "x.txt:2: kind of event LegacyNote is given twice"},
		{"build 1.7.0 like 1.6.0\n  writes with ExternalEvent2", "x.txt:2: build 1.7.0: it writes ExternalEvent2 but does not read it"},
		{"build 2.1.0 like 2.0.0\n  handlers without Leaf@x", "x.txt:2: orchestration Leaf: "},
		{"build 2.1.0 like 2.0.0\n  handlers without Leaf Leaf", "x.txt:2: handler Leaf is given twice"},
		{"build 2.1.0 like 2.0.0\n  handlers none Leaf", `x.txt:2: unexpected "Leaf": expected the end of the line`},
		{"build 2.1.0 like 2.0.0\n  handlers with Leaf\n  handlers with Chain", "x.txt:3: this is the second line with more handlers of the build"},
	} {
		if _, err := Parse("x.txt", []byte(c.text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s…", c.text, err, c.want)
		}
	}
	changed := sample.Must(Parse("x.txt", []byte("build 0.1.32 like 0.1.32\n  schema 1\nnode A runs 0.1.32")))(t).Template.Builds
	model := sample.Must(Parse("x.txt", []byte("node A runs 0.1.32")))(t).Template.Builds
	model[0].Schema = &plan.Schema{Version: 1}
	if diff := cmp.Diff(model, changed); diff != "" {
		t.Errorf("a model of a release with one line (-want +got):\n%s", diff)
	}
	s := sample.Must(Parse("x.txt", []byte("build 2.1.0 like 2.0.0\n  range 1.x\nbuild 2.2.0 like 2.1.0\nnode A runs 1.5.0")))(t)
	var got []string
	for _, w := range s.Warnings() {
		got = append(got, w.Error())
	}
	want := []string{
		"x.txt:2: range >=1.0.0, <=1.999.999: that excludes 2.1.0, its build, so it may be unable to continue what it starts",
		"x.txt:3: build 2.2.0: nothing uses it",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	for _, c := range []struct{ line, want string }{
		{"handlers without Leaf Ship P Chain@1.0.0", ""},
		{"handlers without Leef", `x.txt:3: build 2.1.0: no known build ships "Leef"; did you mean Leaf?`},
		{"handlers with Chain@2.0.0", `x.txt:3: build 2.1.0: no known build ships "Chain@2.0.0"; did you mean Chain@1.0.0?`},
	} {
		s := sample.Must(Parse("x.txt", []byte("# A title.\nbuild 2.1.0 like 2.0.0\n  "+c.line+"\nnode A runs 2.1.0\nprogram P\n  input\nend")))(t)
		if err := s.CheckHandlers([]string{"Chain@1.0.0", "Leaf@1.0.0"}, []string{"Ship"}); c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%s: got %v, want %s", c.line, err, c.want)
		}
	}
}
