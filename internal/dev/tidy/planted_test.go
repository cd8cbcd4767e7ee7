package tidy

import (
	"strings"
	"testing"
	"testing/fstest"
)

// planted is a file tree with one thing in it that a check must find or must not find.
type planted struct {
	name  string
	check func(m *module) []finding
	files map[string]string
	// want is part of the only finding. Empty means that there must be no finding.
	want string
}

func (p planted) test(t *testing.T) {
	fsys := fstest.MapFS{}
	for name, data := range p.files {
		fsys[name] = &fstest.MapFile{Data: []byte(data)}
	}
	m, err := load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	found := p.check(m)
	switch {
	case p.want == "" && len(found) > 0:
		t.Fatalf("found %v, expected nothing", found)
	case p.want != "" && (len(found) != 1 || !strings.Contains(found[0].String(), p.want)):
		t.Fatalf("found %v, expected one finding with %q", found, p.want)
	}
}

// checkPlantedImports checks imports against three rooms.
func checkPlantedImports(m *module) []finding {
	return checkImports(m, "engine sim\nfaults\nsim/cluster")
}

// one returns a tree with a single file, sim/x.go, that has the given body after its package clause.
func one(body string) map[string]string { return map[string]string{"sim/x.go": "package sim\n" + body} }

// cites returns a tree with a single file, sim/x.go, and the page that it cites.
func cites(body string) map[string]string {
	files := one(body)
	files[providerPage] = `<a id="p5.2"></a>` + "\n# `fetch_item` and more\n" + `<a id="f1"></a>`
	return files
}

// TestPlanted checks that each check finds what was planted for it.
func TestPlanted(t *testing.T) {
	mod := `"` + modulePath + `/`
	for _, p := range []planted{
		{"upward import", checkPlantedImports, map[string]string{"engine/x.go": "package engine\nimport _ " + mod + `sim/cluster"`}, "engine/x.go:2: engine must not import sim/cluster: imports run downwards"},
		{"sideways import", checkPlantedImports, map[string]string{"engine/x.go": "package engine\nimport _ " + mod + `sim"`}, "engine must not import sim:"},
		{"unknown package", checkPlantedImports, map[string]string{"engine/util/x.go": "package util"}, "package engine/util is on no floor"},
		{"foreign module", checkPlantedImports, map[string]string{"engine/x.go": `package engine` + "\n" + `import _ "github.com/google/uuid"`}, "engine must not import github.com/google/uuid: use the standard library"},

		{"checker that asks what it judges", checkJudges, map[string]string{"properties/internal/safety/x.go": "package safety\nfunc f() { g(x.Filter.Admits(pin)) }"}, "a checker calls .Admits, which it judges"},
		{"checker that replays", checkJudges, map[string]string{"properties/internal/liveness/x.go": "package liveness\nfunc f() { replay.Verify(a) }"}, "a checker calls replay.Verify"},
		{"released builds, without a reason", checkJudges, map[string]string{"properties/x.go": "package properties\nfunc f() bool { return b.Release == nil }"}, "properties/x.go:2: released builds are treated in another way"},
		{"released builds, with a reason", checkJudges, map[string]string{"properties/x.go": "package properties\nfunc f() bool {\n// On released nodes, S01: not judged.\nreturn b.Release == nil }"}, ""},
		{"checker with its own rule", checkJudges, map[string]string{"properties/internal/safety/x.go": "package safety\nfunc f() { model.Admits(f, pin); s.Admits(n, in) }"}, ""},

		{"page that is not there", checkReferences, one("// See docs/contract/nothing.md#p1."), "sim/x.go:2: no file docs/contract/nothing.md"},
		{"anchor that is not there", checkReferences, cites("// See docs/contract/provider.md#p5.20."), "docs/contract/provider.md has no anchor #p5.20"},
		{"second anchor that is not there", checkReferences, cites("// See docs/contract/provider.md#p5.2, #f1 and #f99."), "no anchor #f99"},
		{"anchors that are there", checkReferences, cites("// See docs/contract/provider.md#p5.2 and #f1, docs/contract/provider.md#fetch_item-and-more. Or docs/contract/provider.md."), ""},
		{"clause that is not there", checkReferences, map[string]string{providerPage: `<a id="p5.2"></a>`, "properties/oracle/x.go": "package oracle\nfunc f() { g(by(\"5.2\", \"I1\"), free(F1, \"5.3\")) }"}, "x.go:2: docs/contract/provider.md has no anchor #p5.3"},
		{"link to nothing", checkReferences, map[string]string{"docs/a.md": "[b](b.md)"}, "docs/a.md:1: no file docs/b.md"},
		{"link to no anchor", checkReferences, map[string]string{"docs/a.md": "# A\n[b](b.md#c)", "docs/b.md": "# B"}, "docs/a.md:2: docs/b.md has no anchor #c"},
		{"link to no anchor of the page itself", checkReferences, map[string]string{"docs/a.md": "# A\n[a](#b)"}, "docs/a.md has no anchor #b"},
		{"links that lead there", checkReferences, map[string]string{"docs/a.md": "# A b\n[a](#a-b) [b](b.md#b) [c](../x) [d](https://example.org/y#z)", "docs/b.md": "# B", "x/y.txt": ""}, ""},

		{"go statement", checkBans, one("func f() { go f() }"), "sim/x.go:2: go statement: write a kernel event"},
		{"go statement in its one file", checkBans, map[string]string{"engine/replay/coroutine.go": "package replay\nfunc f() { go f() }"}, ""},
		{"go statement in an exempt package", checkBans, map[string]string{"sim/campaign/x.go": "package campaign\nfunc f() { go f() }"}, ""},
		{"go statement in a test", checkBans, map[string]string{"sim/x_test.go": "package sim\nfunc f() { go f() }"}, ""},
		{"channel", checkBans, one("var c chan int"), "channel:"},
		{"select", checkBans, one("func f() { select {} }"), "select:"},
		{"sync", checkBans, one(`import "sync"` + "\nvar m sync.Mutex"), "imports sync: write a kernel event"},
		{"clock", checkBans, one(`import "time"` + "\nvar t = time.Now().UnixMilli()"), "time.Now: take the time as an argument"},
		{"clock under another name", checkBans, one(`import t "time"` + "\nfunc f() { t.Sleep(1) }"), "time.Sleep:"},
		{"clock in a variable's shadow", checkBans, one("type c struct{}\nfunc (c) Now() int { return 0 }\nfunc f(time c) int { return time.Now() }"), ""},
		{"duration", checkBans, one(`import "time"` + "\ntype s struct{ d time.Duration }"), ""},
		{"global random", checkBans, one(`import "math/rand/v2"` + "\nvar _ = rand.IntN(3)"), "imports math/rand/v2: make a keyed draw"},

		{"map variable", checkBans, one("var m map[int]int\nfunc f() { for range m {} }"), "sim/x.go:3: range over a map: range over sorted keys"},
		{"map field of another package", checkBans, map[string]string{
			"engine/x.go": "package engine\ntype T struct{ M map[string]int }",
			"faults/x.go": "package faults\nimport " + mod + `engine"` + "\nfunc f(t engine.T) { for range t.M {} }",
		}, "faults/x.go:3: range over a map"},
		{"map behind a name", checkBans, one("type set map[int]bool\nfunc f(s *struct{ set }) { for range s.set {} }"), "range over a map"},
		{"map by type parameter", checkBans, one("func f[M ~map[int]int](m M) { for range m {} }"), "range over a map"},
		{"unknown type", checkBans, one(`import "pgregory.net/rapid"` + "\nfunc f() { for range rapid.X() {} }"), "range over a value whose type cannot be told"},
		{"slice", checkBans, one("func f(s []int) { for range s {} }"), ""},
		{"map with a reason", checkBans, one("var m map[int]int\nfunc f() int { n := 0; for range m { //tidy:ordered counted only\n n++ }; return n }"), ""},
		{"map without a reason", checkBans, one("func f() { //tidy:ordered\n}"), "expected //tidy:ordered REASON"},
		{"reason without a map", checkBans, one("func f() { //tidy:ordered a reason\n}"), "//tidy:ordered lifts nothing"},
		{"unknown lift", checkBans, one("func f() { //tidy:clock a reason\n}"), "//tidy:clock a reason: expected //tidy:ordered REASON"},
		{"keys", checkBans, one(`import "maps"` + "\nfunc f(m map[int]int) { for range maps.Keys(m) {} }"), "maps.Keys: range over sorted keys"},
		{"sorted keys", checkBans, one(`import ("maps"; "slices")` + "\nfunc f(m map[int]int) { for range slices.Sorted(maps.Keys(m)) {} }"), ""},

		{"address", checkBans, one(`import "fmt"` + "\nfunc f(x *int) string { return fmt.Sprintf(\"%p\", x) }"), "%p prints an address"},
		{"float type", checkBans, one("type t struct{ x float64 }"), "floating point: use a ratio of integers"},
		{"float by inference", checkBans, one("func f(x int) bool { y := 0.5; return y > 0 }"), "floating point"},
		{"float from a call", checkBans, one(`import "time"` + "\nfunc f(d time.Duration) bool { return d.Seconds() > 1 }"), "floating point"},
		{"float with a reason", checkBans, one("func f(n int) string {\n//tidy:float shown only\n_ = float64(n)\nreturn \"\" }"), ""},
		{"integer ratio", checkBans, one("const half = 1e6 / 2\nfunc f(n int) int { return n * 3 / 4 }"), ""},

		{"bug named in the table", checkBans, map[string]string{"faults/x.go": "package faults\nconst id = \"provider/orphan-kept\""}, ""},
		{"bug named by a checker", checkBans, map[string]string{"properties/x.go": "package properties\nconst id = \"provider/orphan-kept\""},
			"properties/x.go:2: names a planted bug"},

		{"path of a machine", checkTexts, map[string]string{"README.md": "see /wo" + "rk/main for more"}, "README.md:1: the path of a machine"},
		{"path at the end of a line", checkTexts, map[string]string{".ci/run": "cd /ro" + "ot"}, "the path of a machine"},
		{"path of ours", checkTexts, map[string]string{"README.md": "see sim/wo" + "rk/x and ./ho" + "me/"}, ""},
		{"registry host", checkTexts, map[string]string{"docs/x.md": "from pro" + "xy.go" + "lang.org"}, "the host of a package registry"},
		{"hidden directory", checkTexts, map[string]string{".git/x": "/ro" + "ot"}, ""},
		{"work tree", checkTexts, map[string]string{".git": "gitdir: /ro" + "ot"}, ""},
	} {
		t.Run(p.name, p.test)
	}
}
