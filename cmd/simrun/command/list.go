package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/timeline"
	"github.com/durosim/durosim/sim/workload"
)

// listCmd implements `simrun list`, which lists all items of one kind, such as builds or scenarios.
type listCmd struct {
	Kind     string `arg:"" optional:"" help:"What to list. There are {kinds}."`
	Scenario string `arg:"" optional:"" help:"With builds: a scenario whose own builds are listed, too."`
	JSON     bool   `name:"json" help:"Print one JSON object on standard output and nothing else."`
}

// Help returns the text printed below the flags.
func (listCmd) Help() string {
	return `Lists what this version contains.

Examples:

    simrun list scenarios
    simrun list builds my-upgrade.txt
    simrun list bugs --json`
}

// itemJSON is one list item. Fields that do not apply to its kind are omitted.
type itemJSON struct {
	ID      string `json:"id"`
	Summary string `json:"summary"`
	// For builds: the range of pins that the build replays, and the event kinds that it reads and writes.
	Range string   `json:"range,omitempty"`
	Reads []string `json:"reads,omitempty"`
	Emits []string `json:"emits,omitempty"`
	// For builds declared by a scenario: the build that it resembles, and the handlers that it replaces, adds and
	// lacks.
	Like     string   `json:"like,omitempty"`
	Ships    []string `json:"ships,omitempty"`
	ShipsToo []string `json:"ships_too,omitempty"`
	Lacks    []string `json:"lacks,omitempty"`
	// For orchestrations: the first build that registers it, and, for shipped orchestrations, how it ends if nothing
	// goes wrong.
	Since string `json:"since,omitempty"`
	Ends  string `json:"ends,omitempty"`
	// For scenarios: the smallest number of seeds for which its requirements apply.
	Seeds int `json:"seeds,omitempty"`
	// For scenarios: the released runtimes that need a host program.
	Hosts []string `json:"hosts,omitempty"`
	// For properties.
	Name  string `json:"name,omitempty"`
	Class string `json:"class,omitempty"`
	// For bugs: the properties that the bug is expected to violate, the scenario that shows it, and the section of
	// docs/contract that describes the correct behaviour.
	Properties []string `json:"properties,omitempty"`
	Scenario   string   `json:"scenario,omitempty"`
	Source     string   `json:"source,omitempty"`
	// For faults: the properties that are not checked while the fault can occur.
	Suspends []string `json:"suspends,omitempty"`
	// For faults: their rates under "faults light" and "faults full", as one in so many opportunities.
	Light uint64 `json:"light,omitempty"`
	Full  uint64 `json:"full,omitempty"`
	// For freedoms: what the oracle allows, and what is left if --deny denies it.
	Allows string `json:"allows,omitempty"`
}

type listJSON struct {
	Kind  string     `json:"kind"`
	Items []itemJSON `json:"items"`
}

// listing defines how to list one kind of item.
type listing struct {
	kind  string
	items func(p *Program) ([]itemJSON, error)
	// head holds the column titles. row returns an item's cells.
	head []string
	row  func(i itemJSON) []string
}

func listings() []listing {
	return []listing{
		{"builds", listBuilds, []string{"build", "replays pins", "summary"}, func(i itemJSON) []string { return []string{i.ID, i.Range, i.Summary} }},
		{"orchestrations", listOrchestrations, []string{"orchestration", "since build", "ends", "summary"}, func(i itemJSON) []string { return []string{i.ID, i.Since, orDash(i.Ends), orDash(i.Summary)} }},
		{"scenarios", listScenarios, []string{"scenario", "seeds", "needs", "summary"}, func(i itemJSON) []string {
			return []string{i.ID, fmt.Sprint(i.Seeds), orDash(strings.Join(i.Hosts, ", ")), i.Summary}
		}},
		{"properties", listProperties, []string{"property", "name", "class", "holds"}, func(i itemJSON) []string { return []string{i.ID, i.Name, i.Class, i.Summary} }},
		{"faults", listFaults, []string{"fault", "light", "full", "suspends", "summary"}, func(i itemJSON) []string {
			return []string{i.ID, oneIn(i.Light), oneIn(i.Full), orDash(i.Suspends...), i.Summary}
		}},
		{"bugs", listBugs, []string{"bug", "breaks", "scenario", "summary"}, func(i itemJSON) []string { return []string{i.ID, orDash(i.Properties...), i.Scenario, i.Summary} }},
		{"freedoms", listFreedoms, []string{"freedom", "is about", "allows"}, func(i itemJSON) []string { return []string{i.ID, i.Summary, i.Allows} }},
		{"coverage", listCoverage, []string{"point", "summary"}, func(i itemJSON) []string { return []string{i.ID, i.Summary} }},
	}
}

func kinds() []string { return idsOf(listings(), func(l listing) string { return l.kind }) }

func (c *listCmd) run(a *app) (int, error) {
	kinds := kinds()
	if c.Kind == "" {
		return 0, fmt.Errorf("nothing to list: expected one of %s", strings.Join(kinds, ", "))
	}
	i := slices.Index(kinds, c.Kind)
	if i < 0 {
		return 0, oneOf("list", c.Kind, kinds)
	}
	l := listings()[i]
	items, err := c.items(a.program, l)
	if err != nil {
		return 0, err
	}
	t := timeline.Table{Head: l.head}
	for _, i := range items {
		t.Row(false, l.row(i)...)
	}
	return a.show("list", c.JSON, exitOK, listJSON{Kind: l.kind, Items: items}, func() { a.printTable("", t, len(l.head)) })
}

// items returns all items of the listing's kind. Builds include those declared by a scenario.
func (c *listCmd) items(p *Program, l listing) ([]itemJSON, error) {
	switch {
	case c.Scenario == "":
		items, err := l.items(p)
		if err != nil {
			return nil, &crash{err}
		}
		return items, nil
	case l.kind != "builds":
		return nil, fmt.Errorf("list %s %s: only list builds takes a scenario", l.kind, c.Scenario)
	}
	s, entry, err := p.open(c.Scenario)
	if err != nil {
		return nil, err
	}
	var of *plan.Plan
	if entry != nil {
		of = entry.Plan
	} else {
		of = &s.Template
	}
	all, err := of.AllBuilds(p.builds())
	if err != nil {
		return nil, err
	}
	return buildItems(all, of), nil
}

func listBuilds(p *Program) ([]itemJSON, error) {
	of := &plan.Plan{Builds: p.releases(nil)}
	all, err := of.AllBuilds(p.builds())
	if err != nil {
		return nil, err
	}
	return buildItems(all, of), nil
}

// releases declares the models of releases that the program knows, and what is declared.
func (p *Program) releases(declared []plan.Build) []plan.Build {
	known := idsOf(p.builds(), (*engine.Build).Name)
	var all []plan.Build
	for _, name := range plan.ReleaseNames() {
		b, ok := plan.Release(name, known)
		if ok && !slices.ContainsFunc(declared, func(d plan.Build) bool { return d.Name == name }) && !slices.Contains(known, name) {
			all = append(all, b)
		}
	}
	return append(all, declared...)
}

// buildItems describes builds. of is the plan that may declare some of them.
func buildItems(builds []*engine.Build, of *plan.Plan) []itemJSON {
	var items []itemJSON
	for _, b := range builds {
		item := itemJSON{
			ID: b.Name(), Range: b.DefaultRange.String(), Reads: kindNames(b.Codec.Kinds()), Emits: kindNames(b.Emits),
			Summary: buildSummary(b),
		}
		if d := of.Declared(b.Name()); d != nil {
			item.Like, item.Ships, item.ShipsToo, item.Lacks = d.Like, d.Handlers.Only, d.Handlers.With, d.Handlers.Without
			item.Summary += "; like " + d.Like
			for _, h := range []struct {
				text  string
				names []string
			}{{"; ships only ", d.Handlers.Only}, {"; also ships ", d.Handlers.With}, {"; lacks ", d.Handlers.Without}} {
				if h.names != nil {
					item.Summary += h.text + cmp.Or(strings.Join(h.names, ", "), "none")
				}
			}
		}
		items = append(items, item)
	}
	return items
}

// buildSummary summarizes a build: how many event kinds it reads and writes, and how it replays.
func buildSummary(b *engine.Build) string {
	text := fmt.Sprintf("reads %d kinds of events, writes %d", len(b.Codec.Kinds().List()), len(b.Emits.List()))
	for _, c := range b.Changes {
		text += fmt.Sprintf(", semantics %s of what %s or newer began", c.Semantics, c.Since)
	}
	if b.Limits != (engine.Limits{}) {
		l := b.Bounds()
		text += fmt.Sprintf(", carries %d messages, %d keys of %d bytes", l.CarriedEvents, l.Keys, l.ValueBytes)
	}
	if b.OwnChildIDs {
		text += ", names children by execution"
	}
	if c, ok := b.Codec.(engine.ForgetfulCodec); ok {
		text += fmt.Sprintf(", lacks %v", c.Lacks())
	}
	if b.Semantics != engine.SemanticsStandard {
		text += ", replays differently under the same kinds"
	}
	return text
}

// listOrchestrations lists the orchestrations that nodes may register, sorted by name.
func listOrchestrations(p *Program) ([]itemJSON, error) {
	since := map[string]string{}
	for _, b := range p.builds() {
		r, err := p.registry(b)
		if err != nil {
			return nil, err
		}
		for _, name := range r.Orchestrations() {
			if since[name] == "" {
				since[name] = b.Name()
			}
		}
	}
	names, _, err := p.registered()
	if err != nil {
		return nil, err
	}
	var items []itemJSON
	for _, name := range names {
		item := itemJSON{ID: name, Since: since[name]}
		for _, o := range workload.Orchestrations() {
			if !p.ownHandlers() && o.Name+"@"+o.Version.String() == name {
				item.Summary, item.Ends = o.Summary, string(o.Expect)
			}
		}
		items = append(items, item)
	}
	return items, nil
}

func kindNames(s engine.KindSet) []string {
	return idsOf(s.List(), func(k engine.EventKind) string { return string(k) })
}

func listScenarios(*Program) ([]itemJSON, error) {
	var items []itemJSON
	for _, n := range slices.Concat(scenario.Builtin(), scenario.Released()) {
		s, err := scenario.Lookup(n.Name)
		if err != nil {
			return nil, err
		}
		item := itemJSON{ID: n.Name, Summary: n.Title, Seeds: s.Seeds.Count}
		plan, err := s.Expand(1, scenario.Overrides{})
		if err != nil {
			return nil, err
		}
		for _, b := range plan.Releases() {
			item.Hosts = append(item.Hosts, "duroxide "+b.Version.String())
		}
		items = append(items, item)
	}
	return items, nil
}

// itemsOf lists the rows of one of durosim's own tables.
func itemsOf[T any](rows func() []T, item func(T) itemJSON) func(*Program) ([]itemJSON, error) {
	return func(*Program) ([]itemJSON, error) {
		items := []itemJSON{}
		for _, r := range rows() {
			items = append(items, item(r))
		}
		return items, nil
	}
}

var (
	listProperties = itemsOf(properties.Catalogue, func(p properties.Property) itemJSON {
		return itemJSON{ID: p.ID, Name: p.Name, Class: string(p.Class), Summary: p.Statement}
	})
	listFaults = itemsOf(faults.Kinds, func(f faults.Info) itemJSON {
		return itemJSON{ID: string(f.Kind), Summary: f.Summary, Suspends: f.Suspends, Light: f.Light, Full: f.Full}
	})
	listBugs = itemsOf(faults.Catalogue, func(b faults.Bug) itemJSON {
		return itemJSON{ID: string(b.ID), Summary: b.Summary, Properties: b.Properties, Scenario: b.Scenario, Source: b.Source}
	})
	listFreedoms = itemsOf(oracle.Freedoms, func(f oracle.FreedomInfo) itemJSON {
		return itemJSON{ID: string(f.ID), Summary: f.Summary, Allows: f.Branch}
	})
	listCoverage = itemsOf(properties.CoveragePoints, func(p properties.PointInfo) itemJSON { return itemJSON{ID: p.Name, Summary: p.Summary} })
)

// orDash joins words, or returns a dash if all of them are empty.
func orDash(words ...string) string { return cmp.Or(strings.Join(words, " "), "-") }

// oneIn returns a rate as text, or a dash for none.
func oneIn(opportunities uint64) string {
	if opportunities == 0 {
		return "-"
	}
	return fmt.Sprintf("1 in %d", opportunities)
}
