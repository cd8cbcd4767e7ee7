package engine

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/internal/sample"
)

func shipped(t *testing.T, name string) *Build {
	t.Helper()
	for _, b := range ShippedBuilds() {
		if b.Name() == name {
			return b
		}
	}
	t.Fatalf("no build %s is shipped", name)
	return nil
}

func TestShippedBuilds(t *testing.T) {
	type row struct {
		Name      string
		Range     string
		Legacy    [2]bool // reads, emits
		New       [2]bool
		Raised2   bool
		Semantics Semantics
	}
	want := []row{
		{"0.8.0", ">=0.0.0, <=0.8.0", [2]bool{true, true}, [2]bool{}, false, SemanticsStandard},
		{"1.5.0", ">=0.0.0, <=1.5.0", [2]bool{true, false}, [2]bool{}, false, SemanticsStandard},
		{"1.6.0", ">=0.0.0, <=1.6.0", [2]bool{true, false}, [2]bool{}, false, SemanticsStandard},
		{"2.0.0-rc.1", ">=0.0.0, <=2.0.0", [2]bool{true, false}, [2]bool{true, true}, true, SemanticsStandard},
		{"2.0.0", ">=0.0.0, <=2.0.0", [2]bool{true, false}, [2]bool{true, true}, true, SemanticsStandard},
		{"2.5.0", ">=0.0.0, <=2.5.0", [2]bool{true, false}, [2]bool{true, true}, true, SemanticsEagerTimers},
		{"3.0.0", ">=1.0.0, <=3.0.0", [2]bool{}, [2]bool{true, true}, true, SemanticsStandard},
	}
	var got []row
	builds := ShippedBuilds()
	for i, b := range builds {
		text := sample.Must(NewJSONCodec("", KindSet{}, WorkItemKinds2x()).AppendWorkItem(nil, ExternalRaised2Item{}))(t)
		_, err := b.Codec.DecodeWorkItem(text)
		has := func(k EventKind) [2]bool { return [2]bool{b.Codec.Kinds().Has(k), b.Emits.Has(k)} }
		got = append(got, row{b.Name(), b.DefaultRange.String(), has(eventdata.KindLegacyNote), has(eventdata.KindExternalEvent2), err == nil, b.Semantics})

		if has(eventdata.KindExternalEvent2) != has(eventdata.KindExternalSubscribed2) {
			t.Errorf("%s knows one of the two new kinds", b.Name())
		}
		if b.Codec.Name() != b.Name() {
			t.Errorf("build %s has the codec %s", b.Name(), b.Codec.Name())
		}
		if !b.DefaultRange.Contains(b.Version) {
			t.Errorf("%s does not admit what it starts", b.Name())
		}
		if alien := b.Emits.Without(b.Codec.Kinds().List()...).List(); len(alien) > 0 {
			t.Errorf("%s emits %v, which it does not read", b.Name(), alien)
		}
		if i > 0 && builds[i-1].Version.Compare(b.Version) > 0 {
			t.Errorf("%s stands before %s", builds[i-1].Name(), b.Name())
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("builds (-want +got):\n%s", diff)
	}
	again := ShippedBuilds()
	for i, b := range builds {
		if b == again[i] || b.Codec == again[i].Codec {
			t.Errorf("two calls share %s", b.Name())
		}
	}
}

// The builds that read a history with each of the kinds that not all builds have; no build reads an event without data.
func TestReads(t *testing.T) {
	plain := envelope(eventdata.OrchestrationStarted{Name: "O", Version: "1.0.0"})
	all := []string{"0.8.0", "1.5.0", "1.6.0", "2.0.0-rc.1", "2.0.0", "2.5.0", "3.0.0"}
	for _, c := range []struct {
		history []Event
		want    []string
	}{
		{nil, all},
		{[]Event{plain}, all},
		{[]Event{plain, envelope(eventdata.LegacyNote{})}, all[:6]},
		{[]Event{plain, envelope(eventdata.ExternalSubscribed2{})}, all[3:]},
		{[]Event{envelope(eventdata.ExternalEvent2{}), plain}, all[3:]},
		{[]Event{plain, envelope(eventdata.LegacyNote{}), envelope(eventdata.ExternalEvent2{})}, all[3:6]},
		{[]Event{plain, envelope(nil)}, nil},
	} {
		var got []string
		for _, b := range ShippedBuilds() {
			if b.Reads(c.history) {
				got = append(got, b.Name())
			}
			// Reads says what decoding does.
			decodes := true
			for _, e := range c.history {
				text, err := allCodec().AppendEvent(nil, e)
				if err == nil {
					_, err = b.Codec.DecodeEvent(text)
				}
				decodes = decodes && err == nil
			}
			if decodes != b.Reads(c.history) {
				t.Errorf("%s: Reads says %v, decoding %v", b.Name(), b.Reads(c.history), decodes)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("history %v is read by %v, want %v", c.history, got, c.want)
		}
	}
}

func TestWrites(t *testing.T) {
	pin := func(s string) *Version { return ptr(MustParseVersion(s)) }
	for _, c := range []struct {
		build string
		kind  EventKind
		pin   *Version
		want  bool
	}{
		{"2.0.0", eventdata.KindExternalSubscribed2, pin("2.0.0"), true},
		{"2.0.0", eventdata.KindExternalEvent2, pin("2.0.0-rc.1"), true}, // compared as triples
		{"2.0.0", eventdata.KindExternalEvent2, pin("3.0.0"), true},
		{"2.0.0", eventdata.KindExternalEvent2, pin("1.6.0"), false},
		{"2.0.0", eventdata.KindExternalSubscribed2, pin("1.999.999"), false},
		{"2.0.0", eventdata.KindExternalSubscribed2, nil, false},
		{"3.0.0", eventdata.KindExternalSubscribed2, pin("1.5.0"), false},
		{"1.6.0", eventdata.KindExternalSubscribed2, pin("2.0.0"), false}, // does not know the kind
		{"2.0.0", eventdata.KindExternalSubscribed, pin("1.5.0"), true},
		{"2.0.0", eventdata.KindExternalSubscribed, nil, true},
		{"0.8.0", eventdata.KindLegacyNote, pin("0.8.0"), true},
		{"1.5.0", eventdata.KindLegacyNote, pin("0.8.0"), false}, // reads the kind but does not write it
		{"2.0.0", eventdata.KindLegacyNote, pin("0.8.0"), false},
		{"3.0.0", eventdata.KindLegacyNote, pin("3.0.0"), false},
	} {
		if got := shipped(t, c.build).Writes(c.kind, c.pin); got != c.want {
			t.Errorf("%s writes %s into an execution pinned %v: %v, want %v", c.build, c.kind, c.pin, got, c.want)
		}
	}
}

// S23, for the pins that builds admit by default: if a build writes into an execution with the pin of another build, the
// other build reads it.
func TestWhatIsWrittenIsRead(t *testing.T) {
	for _, writer := range ShippedBuilds() {
		for _, pinned := range ShippedBuilds() {
			if !writer.DefaultRange.Contains(pinned.Version) {
				continue
			}
			for _, k := range Kinds2x().List() {
				if writer.Writes(k, &pinned.Version) && !pinned.Codec.Kinds().Has(k) {
					t.Errorf("%s writes %s into an execution of %s, which does not read it", writer.Name(), k, pinned.Name())
				}
			}
		}
	}
}

func TestKindSet(t *testing.T) {
	a := Kinds(eventdata.KindTimerFired, eventdata.KindTimerCreated, eventdata.KindTimerFired)
	b := a.With(eventdata.KindLegacyNote, eventdata.KindTimerCreated)
	c := b.Without(eventdata.KindTimerCreated, eventdata.KindKeyValueSet)
	for _, s := range []struct {
		set  KindSet
		want []EventKind
	}{
		{a, []EventKind{eventdata.KindTimerFired, eventdata.KindTimerCreated}},
		{b, []EventKind{eventdata.KindTimerFired, eventdata.KindTimerCreated, eventdata.KindLegacyNote}},
		{c, []EventKind{eventdata.KindTimerFired, eventdata.KindLegacyNote}},
		{KindSet{}, nil},
	} {
		list := s.set.List()
		if !slices.Equal(list, s.want) {
			t.Errorf("got %v, want %v", list, s.want)
		}
		for _, k := range Kinds2x().List() {
			if s.set.Has(k) != slices.Contains(s.want, k) {
				t.Errorf("%v has %s: %v", s.want, k, s.set.Has(k))
			}
		}
		clear(list)
		if !slices.Equal(s.set.List(), s.want) {
			t.Error("List gives the set's own slice away")
		}
	}
	items := WorkItemKinds1x().Without(ItemQueueMessage, ItemExternalRaised2).With(ItemTimerFired, ItemExternalRaised2)
	if got := items.List(); items.Has(ItemQueueMessage) || !items.Has(ItemExternalRaised2) || len(got) != len(WorkItemKinds1x().List()) {
		t.Errorf("got %v", got)
	}
	if !Kinds2x().Has(eventdata.KindExternalEvent2) || Kinds1x().Has(eventdata.KindExternalEvent2) || Kinds2x().Has("") {
		t.Error("kinds of 1.x and 2.x")
	}
}

// TestSemanticsOf checks that the version in the first event decides, and that a pre-release precedes its release.
func TestSemanticsOf(t *testing.T) {
	b := &Build{Changes: []SemanticsChange{{V(0, 1, 31), SemanticsDiscard}, {V(2, 0, 0), SemanticsEagerTimers}}}
	for stamp, want := range map[string]Semantics{
		"0.1.30": SemanticsStandard, "0.1.31-rc.1": SemanticsStandard, "0.1.31": SemanticsDiscard, "1.9.9": SemanticsDiscard,
		"2.0.0-rc.1": SemanticsDiscard, "2.0.0": SemanticsEagerTimers, "3.0.0": SemanticsEagerTimers,
	} {
		if v := MustParseVersion(stamp); b.SemanticsOf(&v) != want {
			t.Errorf("%s: %s, want %s", stamp, b.SemanticsOf(&v), want)
		}
	}
	if got := b.SemanticsOf(nil); got != SemanticsStandard {
		t.Errorf("no version: %s", got)
	}
}

// TestLimits checks that the contract provides the limits that a build does not set.
func TestLimits(t *testing.T) {
	b := &Build{Limits: Limits{CarriedEvents: 100}}
	if got, want := b.Bounds(), (Limits{CarriedEvents: 100, Keys: MaxKVKeys, ValueBytes: MaxKVValueBytes}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestReleasedBuild checks that a version and a label name a build that is like the newest release up to that version.
func TestReleasedBuild(t *testing.T) {
	for _, c := range []struct{ name, version, like string }{
		{"0.1.32", "0.1.32", "0.1.32"}, {"0.1.32-patched", "0.1.32", "0.1.32"}, {"0.1.33-head", "0.1.33", "0.1.32"},
		{"0.1.29-bisect", "0.1.29", "0.1.26"}, {"0.2.0-beta.1-own", "0.2.0-beta.1", "0.1.32"},
	} {
		b, like := ReleasedBuild(c.name), ReleasedBuild(c.like)
		switch {
		case b == nil:
			t.Errorf("%s is not found", c.name)
		case b.Name() != ReleasePrefix+c.name || b.Version.String() != c.version || b.DefaultRange.Max != b.Version.Triple():
			t.Errorf("%s: build %s of version %s, range %s", c.name, b.Name(), b.Version, b.DefaultRange)
		case b.Limits != like.Limits || b.OwnChildIDs != like.OwnChildIDs || b.CountsWaiting != like.CountsWaiting || len(b.Changes) != len(like.Changes):
			t.Errorf("%s is not like %s: %+v", c.name, c.like, b)
		}
	}
	for _, name := range []string{"", "0.1.31", "0.1.32-", "head", "-head", "0.1.25-own", "1.x-own"} {
		if b := ReleasedBuild(name); b != nil {
			t.Errorf("%q names %s", name, b.Name())
		}
	}
}
