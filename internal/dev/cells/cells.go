// Package cells finds what the store is never given and never gives in scenarios: classes of texts that a field never has,
// and orders of messages and of events that never come. What happens only with those, no campaign finds.
//
//	go -C internal/dev run ./simdev cells -seeds 8
package cells

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/internal/dev/selfcheck"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// classes are the classes of texts, by what tells them.
var classes = []struct {
	name string
	has  func(text string) bool
}{
	{"empty", func(text string) bool { return text == "" }},
	{"long", func(text string) bool { return len(text) > 1000 }},
	{"escaped", func(text string) bool { return strings.ContainsAny(text, "\"\\\n\t") }},
	{"not ASCII", func(text string) bool { return strings.ContainsFunc(text, func(r rune) bool { return r > 127 }) }},
	{"plain", func(string) bool { return true }},
}

// Cells are what calls have had: the classes of each field's texts, and the kinds that came directly after each kind in
// each list.
type Cells struct{ texts, orders map[string]map[string]bool }

// Reached runs seeds of each scenario, from the first on.
func Reached(scenarios []*scenario.Scenario, seeds uint64) (*Cells, error) {
	c := &Cells{texts: map[string]map[string]bool{}, orders: map[string]map[string]bool{}}
	for _, s := range scenarios {
		for seed := range seeds {
			p, err := s.Expand(seed+1, scenario.Overrides{})
			if err != nil {
				return nil, err
			}
			cfg := cluster.Config{Plan: p, Seed: seed + 1}
			durosim.Run{Monitor: func(w *cluster.World) cluster.Monitor { return &watch{selfcheck.Watch(w), c} }}.Configure(&cfg, properties.Options{})
			if _, err := cluster.Run(cfg); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// watch is a monitor that sees what callers give and get.
type watch struct {
	cluster.Monitor
	cells *Cells
}

// WatchHandle implements cluster.HandleWatcher.
func (w *watch) WatchHandle(p engine.Provider, codec engine.Codec) engine.Provider {
	p = cluster.WatchHandle(w.Monitor, p, codec)
	return call.Through(p.Name(), p.Version(), p.Admin() != nil, func(ctx context.Context, c call.Call) call.Answer {
		a := call.Pass(ctx, p, c)
		w.cells.see(call.Method(c), call.Text(c))
		if text, err := call.EncodeResult(call.Method(c), a); a.Err == nil && err == nil {
			w.cells.see("answer to "+call.Method(c), string(text))
		}
		return a
	})
}

func (c *Cells) see(what, text string) {
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		c.walk(what, v)
	}
}

func (c *Cells) walk(at string, v any) {
	switch v := v.(type) {
	case string:
		for _, class := range classes {
			if class.has(v) {
				add(c.texts, at, class.name)
				break
			}
		}
	case []any:
		before := "nothing"
		for _, x := range v {
			kind := kindOf(x)
			if kind != "" {
				add(c.orders, at+" after "+before, kind)
				before = kind
			}
			c.walk(strings.TrimSpace(at+" "+kind), x)
		}
	case map[string]any:
		for name, x := range v { //tidy:ordered both tables are sets
			if name != kindOf(v) {
				name = at + " " + name
			} else {
				name = at
			}
			c.walk(name, x)
		}
	}
}

// kindOf returns the kind of an event or a work item, or "".
func kindOf(v any) string {
	m, _ := v.(map[string]any)
	if kind, ok := m["type"].(string); ok {
		return kind
	}
	for name := range m { //tidy:ordered there is one
		if len(m) == 1 && name != strings.ToLower(name) {
			return name
		}
	}
	return ""
}

func add(to map[string]map[string]bool, key, value string) {
	if to[key] == nil {
		to[key] = map[string]bool{}
	}
	to[key][value] = true
}

// Missing returns a line for each field that has had texts of some classes only, and for each kind after which some kinds
// of the same list have never come.
func (c *Cells) Missing() (lines []string) {
	for at, has := range c.texts { //tidy:ordered the lines are sorted
		var without []string
		for _, class := range classes {
			if !has[class.name] {
				without = append(without, class.name)
			}
		}
		if len(without) > 0 {
			lines = append(lines, fmt.Sprintf("%s: never %s", at, strings.Join(without, ", ")))
		}
	}
	kinds := map[string]map[string]bool{} // by list
	list := func(at string) string { list, _, _ := strings.Cut(at, " after "); return list }
	for at, next := range c.orders { //tidy:ordered a set
		for kind := range next { //tidy:ordered a set
			add(kinds, list(at), kind)
		}
	}
	for at, next := range c.orders { //tidy:ordered the lines are sorted
		var without []string
		for _, kind := range slices.Sorted(maps.Keys(kinds[list(at)])) {
			if !next[kind] {
				without = append(without, kind)
			}
		}
		if len(without) > 0 {
			lines = append(lines, fmt.Sprintf("%s: never %s", at, strings.Join(without, ", ")))
		}
	}
	slices.Sort(lines)
	return lines
}
