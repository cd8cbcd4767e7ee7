package faults

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// changed are the rules that two tables do not share, by table and name.
func changed(a, b *Tables) []string {
	var names []string
	for _, table := range []string{"Provider", "Node", "Replay"} {
		x, y := reflect.ValueOf(*a).FieldByName(table), reflect.ValueOf(*b).FieldByName(table)
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
	return names
}

func tablesOf(t *testing.T, ids ...BugID) *Tables {
	t.Helper()
	tables, err := NewTables(ids...)
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

// TestProfileSwitches: each switch replaces one rule, alone, and the profile replaces what its switches do, no less and no
// more.
func TestProfileSwitches(t *testing.T) {
	right := tablesOf(t)
	var all []string
	for _, id := range ProfileSwitches() {
		b, ok := Switch(id)
		if !ok || b.Summary == "" || b.ID != id {
			t.Fatalf("%s: found %v, %+v", id, ok, b)
		}
		names := changed(right, tablesOf(t, id))
		if len(names) != 1+len(b.With) {
			t.Errorf("%s replaces %v, with %v: expected one rule, and one for each companion", id, names, b.With)
		}
		if len(b.With) == 0 {
			all = append(all, names...)
		}
	}
	all = append(all, "Node.Order") // of version-check-first, without its companion
	slices.Sort(all)
	profile, err := ProfileTables()
	if err != nil {
		t.Fatal(err)
	}
	got := changed(right, profile)
	slices.Sort(got)
	if all = slices.Compact(all); !slices.Equal(got, all) {
		t.Errorf("the profile replaces %v, its switches %v", got, all)
	}
	if !profile.WrongProvider {
		t.Error("the profile has switches in the provider, and does not say so")
	}
}

// TestSharedSwitches: a switch that another family has, too, is that bug under another name.
func TestSharedSwitches(t *testing.T) {
	all := offered
	for _, s := range sharedSwitches() {
		i := slices.IndexFunc(all, func(b Bug) bool { return b.ID == s.is })
		if i < 0 || strings.HasPrefix(string(s.is), ProfileFamily) || !strings.HasPrefix(string(s.id), ProfileFamily) {
			t.Errorf("%s is %s: expected a switch of the profile, and a bug of another family", s.id, s.is)
			continue
		}
		own := tablesOf(t)
		all[i].apply(own)
		if names := changed(own, tablesOf(t, s.id)); s.summary == "" || len(changed(tablesOf(t), own)) != 1 || len(names) > 1 {
			t.Errorf("%s differs from %s in %v", s.id, s.is, names)
		}
	}
}

// TestSwitch: what no property catches can be switched on all the same if it is 0.1.26's.
func TestSwitch(t *testing.T) {
	for id, want := range map[BugID]bool{
		"duroxide-0.1.26/worker-ack-not-retried": true,
		"provider/filter-after-lock":             true,
		"provider/no-such-bug":                   false,
		"duroxide-0.1.26/no-such-switch":         false,
	} {
		if _, ok := Switch(id); ok != want {
			t.Errorf("Switch(%s): %v, want %v", id, ok, want)
		}
	}
	if _, err := ProfileTables("provider/no-such-bug"); err == nil {
		t.Error("the profile takes an unknown bug")
	}
}

// TestFindings: each switch of the profile is told once: what it costs and what mends it if the catalogue has it, else why
// no property sees it.
func TestFindings(t *testing.T) {
	var told []BugID
	for _, f := range Findings() {
		told = append(told, f.ID)
		_, caught := Lookup(f.ID)
		if caught != (f.Consequence != "" && f.Fix != "") || caught != (f.Unseen == "") {
			t.Errorf("%s is caught: %v, and its finding says otherwise: %+v", f.ID, caught, f)
		}
	}
	slices.Sort(told)
	if want := ProfileSwitches(); !slices.Equal(told, want) {
		t.Errorf("findings of %v, want %v", told, want)
	}
}
