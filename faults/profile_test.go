package faults

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
)

// changed lists the rules in which two tables differ, by table and name.
func changed(a, b *Tables) []string {
	var names []string
	for _, table := range []string{"Provider", "Node", "Replay", "DeadLetters"} {
		x, y := rulesOf(a, table), rulesOf(b, table)
		for i := range x.NumField() {
			same := false
			if x.Field(i).Kind() == reflect.Func {
				same = x.Field(i).Pointer() == y.Field(i).Pointer()
			} else {
				same = reflect.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface())
			}
			if !same {
				names = append(names, table+"."+x.Type().Field(i).Name)
			}
		}
	}
	if (a.Code == nil) != (b.Code == nil) {
		names = append(names, "Code")
	}
	return names
}

// rulesOf is one table of rules; a nil store means the correct rules.
func rulesOf(t *Tables, table string) reflect.Value {
	if table == "Provider" && t.Provider == nil {
		return reflect.ValueOf(*memprovider.DefaultRules())
	}
	return reflect.Indirect(reflect.ValueOf(*t).FieldByName(table))
}

func tablesOf(t *testing.T, ids ...BugID) *Tables {
	t.Helper()
	return sample.Must(NewTables(ids...))(t)
}

// TestProfileSwitches: each switch replaces one rule, alone, and the profile replaces what its switches do, no less and no
// more.
func TestProfileSwitches(t *testing.T) {
	right := tablesOf(t)
	var all []string
	for _, b := range Profile("duroxide-0.1.26") {
		names := changed(right, tablesOf(t, b.ID))
		if len(names) != 1+len(b.With) {
			t.Errorf("%s replaces %v, with %v: expected one rule, and one for each companion", b.ID, names, b.With)
		}
		if !strings.HasPrefix(b.Source, "docs/contract/") {
			t.Errorf("%s has the source %q: expected a place in docs/contract", b.ID, b.Source)
		}
		if len(b.With) == 0 {
			all = append(all, names...)
		}
	}
	all = append(all, "Node.Order") // of version-check-first, without its companion
	slices.Sort(all)
	planted := sample.Must(Plant("duroxide-0.1.26"))(t)
	profile := planted.For("", "")
	got := changed(right, profile)
	slices.Sort(got)
	if all = slices.Compact(all); !slices.Equal(got, all) {
		t.Errorf("the profile replaces %v, its switches %v", got, all)
	}
	if profile.Provider == nil {
		t.Error("the profile has switches in the provider, and does not say so")
	}
}

func TestUnknownBugBesideTheProfile(t *testing.T) {
	if _, err := Plant("duroxide-0.1.26", "provider/no-such-bug"); err == nil {
		t.Error("the profile takes an unknown bug")
	}
}

// TestFindings: each switch of the profile says what it costs and what mends it if the catalogue has it, else why no
// property sees it; no other row says any of that.
func TestFindings(t *testing.T) {
	for _, b := range Bugs() {
		told := b.Consequence != "" && b.Fix != ""
		if !strings.HasPrefix(string(b.ID), ProfileFamily) {
			if told || b.Unseen != "" {
				t.Errorf("%s is no switch of the profile, and has a finding", b.ID)
			}
			continue
		}
		if b.Place == "" || b.ForOld && b.Mended == "" {
			t.Errorf("%s cites no place in the release, or says what is mended for some and not when", b.ID)
		}
		if still := b.Mended == "" || b.ForOld; still != (b.Place32 != "") {
			t.Errorf("0.1.32 still does %s: %v, and the place in that release is %q", b.ID, still, b.Place32)
		}
		if b.Caught() != told || b.Caught() != (b.Unseen == "") {
			t.Errorf("%s is caught: %v, and its finding says otherwise: %+v", b.ID, b.Caught(), b)
		}
	}
}

// TestProfiles checks that the profile of the newer release has the bugs that it has not fixed.
func TestProfiles(t *testing.T) {
	if old, now := len(Profile("duroxide-0.1.26")), len(Profile("duroxide-0.1.32")); old != 40 || now != 27+3+2 {
		t.Errorf("%d switches for 0.1.26 and %d for 0.1.32, want 40; 27, 3 by pin and 2 decisions", old, now)
	}
	if slices.ContainsFunc(Profile("duroxide-0.1.32"), func(b Bug) bool { return b.ID == "duroxide-0.1.26/can-parent-lost" }) {
		t.Error("0.1.30 has mended can-parent-lost")
	}
	if n := len(Profile("contract")); n != 0 {
		t.Errorf("the contract has %d switches", n)
	}
}

// TestProfileByPin: what 0.1.32 decides by who began an execution follows the stamp of its first event, a pre-release of the
// threshold before it, and no stamp as an old one; the other rules of the profile do not depend on it.
func TestProfileByPin(t *testing.T) {
	planted := sample.Must(Plant("duroxide-0.1.32"))(t)
	old, early := engine.V(0, 1, 30), engine.V(0, 1, 31)
	early.Pre = "rc.1"
	newer, threshold := engine.V(0, 1, 32), engine.V(0, 1, 31)
	for _, tc := range []struct {
		began  *engine.Version
		legacy bool
	}{{nil, true}, {&old, true}, {&early, true}, {&threshold, false}, {&newer, false}} {
		r := planted.For("", "").Replay
		r.ByOrigin(tc.began, &r)
		got := []bool{r.PendingDequeueReads, r.DropsBeforeBreadcrumb, !r.FreedEventWakes, !r.DiscardsFreed}
		if slices.Contains(got, !tc.legacy) {
			t.Errorf("begun by %v: pending dequeues read, drops early, freed events wait, freed events pass on: %v, want all %v", tc.began, got, tc.legacy)
		}
	}
	if planted, err := Plant("duroxide-0.1.26"); err != nil || planted.For("", "").Replay.ByOrigin != nil {
		t.Errorf("0.1.26 goes by who began an execution: %v", err)
	}
}
