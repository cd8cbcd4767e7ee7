package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim/program"
)

// Validate checks the plan against the known builds and orchestrations and returns all problems as one error. Running a
// valid plan does not fail.
func (p *Plan) Validate(known Known) error {
	v := &validation{plan: p, known: known}
	if all, err := p.AllBuilds(known.Builds); err != nil {
		v.errs = append(v.errs, err)
	} else {
		v.known.Builds = all
	}
	for _, validate := range []func(){
		v.nodes, v.clocks, v.schedule, v.programs, v.instances, v.histories, v.store, v.probes, v.faults, v.releases, v.end,
	} {
		v.part = ""
		validate()
	}
	v.part = ""
	if p.FaultPhase < 0 {
		v.fail("fault-phase of %v: want a positive duration, or 0", p.FaultPhase)
	}
	if p.Clients != "" {
		v.part = "clients"
		if b := v.build("clients", p.Clients); b != nil && b.Release != "" {
			v.fail("clients: duroxide %s is a released runtime, which runs only nodes: want its model, %[1]s", b.Version)
		}
		v.part = ""
	}
	if p.Strategy == StrategyDeadletter && p.Store.Plain {
		v.fail("strategy deadletter: it reads status and pins, which a plain store does not report")
	}
	switch released := p.Releases(); {
	case p.Strategy == "", p.Strategy == StrategyFilter:
	case !slices.Contains(Strategies(), p.Strategy):
		v.fail("unknown strategy %q: want one of %v", p.Strategy, Strategies())
	case len(released) > 0:
		v.fail("strategy %q: released nodes (%s) support only filter", p.Strategy, released[0].Name())
	}
	switch p.Profile {
	case "", ProfileContract, ProfileDuroxide, ProfileDuroxide32:
	default:
		v.fail("unknown profile %q: want contract, duroxide-0.1.26 or duroxide-0.1.32", p.Profile)
	}
	v.bugs()
	if len(v.errs) == 0 {
		return nil
	}
	return fmt.Errorf("plan %s: %w", p.Name, errors.Join(v.errs...))
}

// Known lists the builds and orchestrations that plans may name.
type Known struct {
	Builds []*engine.Build
	// Orchestrations lists the shipped orchestrations as NAME@VERSION. Handlers and steps may register only these, and
	// no program may have the same name as one of them.
	Orchestrations []string
	// Registers, if not nil, reports whether other code, such as a user's, has an orchestration, which handlers and steps
	// may name, too.
	Registers func(handler string) bool
}

func (v *validation) bugs() {
	for _, id := range v.plan.Bugs {
		v.part = "bug " + string(id)
		bug, whose := id.On()
		row, ok := faults.Lookup(id)
		switch {
		case !ok:
			v.fail("unknown bug %q", bug)
		case whose == "":
		case row.StoreWide:
			v.fail("bug %q on %s: it affects the whole store and cannot be limited to one build or node", bug, whose)
		case FindBuild(v.known.Builds, whose) == nil && !slices.ContainsFunc(v.plan.Nodes, func(n Node) bool { return n.Name == whose }):
			v.fail("bug %q on %s: there is no build or node with that name", bug, whose)
		}
	}
}

// Problem is one of the problems that Validate finds.
type Problem struct {
	// Part is the part of the plan that it is about: "nodes", "node A", "instance ID", which is a stored one, too, "step
	// 1", "bug ID". It is empty for any other.
	Part, Msg string
}

func (p *Problem) Error() string { return p.Msg }

type validation struct {
	plan  *Plan
	known Known
	errs  []error
	part  string // see Problem
}

func (v *validation) fail(format string, args ...any) {
	v.errs = append(v.errs, &Problem{Part: v.part, Msg: fmt.Sprintf(format, args...)})
}

// id rejects the id of what if no store gives it back: bytes that are not UTF-8 become others in events and messages.
func (v *validation) id(what, id string) {
	if !utf8.ValidString(id) {
		v.fail("%s %q: that is not valid UTF-8", what, id)
	}
}

func (v *validation) build(what, name string) *engine.Build {
	b := FindBuild(v.known.Builds, name)
	if b == nil {
		v.fail("%s: unknown build %q: want one of %s", what, name, buildNames(v.known.Builds))
	}
	return b
}

func (v *validation) handler(what, handler string) {
	name, version, err := ParseHandler(handler)
	if err != nil {
		v.fail("%s: %v", what, err)
		return
	}
	isProgram := slices.ContainsFunc(v.plan.Programs.Versions(name, version.String()), func(p *program.Program) bool { return p.At() == version.String() })
	code := name + "@" + version.String()
	if !isProgram && !slices.Contains(v.known.Orchestrations, code) && (v.known.Registers == nil || !v.known.Registers(code)) {
		v.fail("%s: no orchestration %s is known", what, handler)
	}
}

// end validates how the run ends.
func (v *validation) end() {
	p := v.plan
	if p.Until < 0 {
		v.fail("until %v: want a positive duration, or 0", p.Until)
	}
	for i, s := range p.Schedule {
		v.part = fmt.Sprintf("step %d", i+1)
		if p.Until > 0 && s.At >= p.Until {
			v.fail("step %d (%s %s): at %v, after the run ends at %v", i+1, s.Verb, s.Node, s.At, p.Until)
		}
	}
	for i := range p.Instances {
		in := &p.Instances[i]
		v.part = "instance " + in.ID
		switch {
		case in.Expect != EndEternal:
		case p.Unaided && p.Until == 0:
			v.fail("instance %s: it runs until recovery cancels it, and this plan has no recovery: set the run's end with until", in.ID)
		case in.Unaided:
			v.fail("instance %s: it runs until recovery cancels it, but it is unaided", in.ID)
		}
	}
}

func (v *validation) nodes() {
	if len(v.plan.Nodes) == 0 {
		v.part = "nodes"
		v.fail("no node is declared")
		v.part = ""
	}
	seen := map[string]bool{}
	for _, n := range v.plan.Nodes {
		what := "node " + n.Name
		v.part = what
		if n.Name == "" {
			v.fail("a node without a name")
		}
		v.id("node", n.Name)
		switch {
		case seen[n.Name]:
			v.fail("%s is named twice", what)
		case n.Name == "world":
			v.fail("%s: stories have that name for what is around the nodes", what)
		case FindBuild(v.known.Builds, n.Name) != nil:
			v.fail("%s: that is the name of a build, and a planted bug could be of either", what)
		}
		seen[n.Name] = true
		b := v.build(what, n.Build)
		for _, h := range n.Handlers {
			v.handler(what, h)
		}
		o := node.DefaultOptions()
		for _, s := range n.Options {
			if err := o.Set(s.Name, s.Value); err != nil {
				v.fail("%s: %v", what, err)
			}
		}
		if b != nil {
			if err := o.Validate(); err != nil {
				v.fail("%s: %v", what, err)
			}
		}
	}
}

func (v *validation) schedule() {
	for i, s := range v.plan.Schedule {
		v.part = fmt.Sprintf("step %d", i+1)
		what := fmt.Sprintf("step %d (%s)", i+1, strings.TrimSpace(string(s.Verb)+" "+s.Node))
		if s.At < 0 {
			v.fail("%s: at %v, before the start", what, s.At)
		}
		if t := v.plan.FaultPhase; t > 0 && s.At >= t {
			v.fail("%s: at %v, after the fault phase ends at %v: want an earlier step or a longer fault phase", what, s.At, t)
		}
		if s.Verb == VerbMark {
			if s.Mark == "" {
				v.fail("%s: a part without a name", what)
			}
			continue
		}
		if s.Verb.OfNode() && !slices.ContainsFunc(v.plan.Nodes, func(n Node) bool { return n.Name == s.Node }) {
			v.fail("%s: unknown node %q", what, s.Node)
		}
		switch s.Verb {
		case VerbUpgrade, VerbRollback:
			v.build(what, s.Build)
		case VerbPause:
			if s.For <= 0 {
				v.fail("%s: for %v: want a positive duration", what, s.For)
			}
		case VerbRegister, VerbDeregister:
			v.handler(what, s.Handler)
		case VerbMigrate:
			v.migration(what, s.Schema)
		case VerbActivate:
			v.activation(what, s.Build)
		case VerbWiden, VerbNarrow, VerbStop, VerbCrash, VerbStart, VerbAdd, VerbRemove:
		default:
			v.fail("%s: unknown verb", what)
		}
	}
}

// migration validates a step that undoes migrations until the store's schema has that version.
func (v *validation) migration(what string, version uint64) {
	for i := range v.plan.Builds {
		switch s := v.plan.Builds[i].Schema; {
		case s == nil || s.Version <= version:
		case !v.plan.Migration(s.Version).Reversible:
			v.fail("%s: nothing undoes the migration to schema %d: want \"reversible\" below the first build with that schema", what, s.Version)
		}
	}
	if version == 0 || version != v.plan.FirstSchema() && v.plan.Migration(version) == nil {
		v.fail("%s: no build has schema %d", what, version)
	}
}

// activation validates a step that activates a build: some build must wait for it, and no node run it before.
func (v *validation) activation(what, build string) {
	v.build(what, build)
	if !slices.ContainsFunc(v.plan.Builds, func(b Build) bool { return b.AwaitsActivation && b.Like == build }) {
		v.fail("%s: nothing waits for that: want a build like %s with \"awaits activation\" below it", what, build)
	}
	for i := range v.plan.Nodes {
		if n := &v.plan.Nodes[i]; n.Build == build {
			v.fail("%s: node %s runs %s from the start: want a build like it that does so when it is activated", what, n.Name, build)
		}
	}
	for _, s := range v.plan.Schedule {
		if s.Build == build && s.Verb != VerbActivate {
			v.fail("%s: \"%s\" does not wait for it: want a build like %s that does", what, s.String(), build)
		}
	}
}

func (v *validation) instances() {
	seen := map[string]bool{}
	for _, in := range v.plan.Instances {
		what := "instance " + in.ID
		v.part = what
		if in.ID == "" {
			v.fail("an instance without an id")
		}
		v.id("instance", in.ID)
		if seen[in.ID] {
			v.fail("%s is named twice", what)
		}
		seen[in.ID] = true
		if in.Orchestration == "" {
			v.fail("%s: no orchestration", what)
		}
		if in.Version != "" {
			if _, err := engine.ParseVersion(in.Version); err != nil {
				v.fail("%s: %v", what, err)
			}
		}
		if in.StartAt < 0 {
			v.fail("%s: starts at %v, before the run", what, in.StartAt)
		}
		for _, a := range in.Actions {
			if !utf8.ValidString(a.Name) || !utf8.ValidString(a.Topic) {
				v.id(fmt.Sprintf("%s: %s", what, a.Verb), a.Name)
				v.id(fmt.Sprintf("%s: %s %s topic", what, a.Verb, a.Name), a.Topic)
			}
			switch a.Verb {
			case ActionRaise, ActionEnqueue, ActionCancel, ActionDelete, ActionPrune:
			default:
				v.fail("%s: unknown action %q: want raise, enqueue, cancel, delete or prune", what, a.Verb)
			}
			if (a.Verb == ActionDelete || a.Verb == ActionPrune) && a.Name+a.Topic+a.Data != "" {
				v.fail("%s: a %s takes no name, topic or data", what, a.Verb)
			}
			if (a.Forced || a.Alone) && a.Verb != ActionDelete {
				v.fail("%s: only a deletion can be forced or alone, and this is a %s", what, a.Verb)
			}
			if a.Unawaited && a.Verb != ActionRaise && a.Verb != ActionEnqueue {
				v.fail("%s: only an event or a queue's message can be unawaited, and this is a %s", what, a.Verb)
			}
			if a.Blind && a.Verb != ActionRaise {
				v.fail("%s: only an event can be raised blindly, and this is a %s", what, a.Verb)
			}
			if a.At < in.StartAt {
				v.fail("%s: %s at %v, before its start at %v", what, a.Verb, a.At, in.StartAt)
			}
		}
		if in.Expect != "" {
			if _, err := in.Expect.Ways(); err != nil {
				v.fail("%s: %v: want completed, failed, eternal, poison or any, or several of completed, failed and poison with | between them", what, err)
			}
		}
	}
	for _, h := range v.plan.Histories {
		v.part = "instance " + h.Instance
		if seen[h.Instance] {
			v.fail("history %s: there is an instance with that name", h.Instance)
		}
		seen[h.Instance] = true
	}
}

func (v *validation) histories() {
	for _, h := range v.plan.Histories {
		v.part = "instance " + h.Instance
		v.id("history", h.Instance)
		if !slices.Contains(Shapes(), h.Shape) {
			v.fail("history %s: unknown shape %q", h.Instance, h.Shape)
		}
		if h.Instance == "" {
			v.fail("a history without an instance")
		}
		writes := func(b *engine.Build) bool { return b.Writes(eventdata.KindExternalSubscribed2, h.Pin) }
		if h.Shape == ShapeNewKind && !slices.ContainsFunc(v.known.Builds, writes) {
			v.fail("history %s: no build writes the kinds of shape %s under that pin: want that of a build that does, such as pinned 2.0.0", h.Instance, h.Shape)
		}
		own := History{Shape: h.Shape}
		if name, version := own.Handler(); h.Orchestration != "" && (h.Orchestration != name || h.Version != "" && h.Version != version) {
			v.fail("history %s: a history of shape %s belongs to %s@%s, not to %s", h.Instance, h.Shape, name, version, h.Orchestration)
		}
		if h.KickAt < 0 {
			v.fail("history %s: its kick is at %v, before the start", h.Instance, h.KickAt)
		}
		if h.Version != "" {
			if _, err := engine.ParseVersion(h.Version); err != nil {
				v.fail("history %s: %v", h.Instance, err)
			}
		}
	}
}

func (v *validation) faults() {
	known := faults.Kinds()
	for _, r := range v.plan.Faults.Rates {
		if !slices.ContainsFunc(known, func(i faults.Info) bool { return i.Kind == r.Kind }) {
			v.fail("unknown fault %q", r.Kind)
		}
		if r.Den == 0 || r.Num > r.Den {
			v.fail("fault %s: %d in %d is not a ratio between 0 and 1", r.Kind, r.Num, r.Den)
		}
		if r.Node != "" && !slices.ContainsFunc(v.plan.Nodes, func(n Node) bool { return n.Name == r.Node }) {
			v.fail("fault %s: unknown node %q", r.Kind, r.Node)
		}
	}
}

func (v *validation) programs() {
	if err := v.plan.Programs.Validate(); err != nil {
		v.errs = append(v.errs, err)
	}
	for i := range v.plan.Programs {
		name := v.plan.Programs[i].Name
		v.part = "program " + name
		if slices.ContainsFunc(v.known.Orchestrations, func(o string) bool { return strings.HasPrefix(o, name+"@") }) {
			v.fail("program %s: there is a shipped orchestration with that name", name)
		}
	}
	for i := range v.plan.Instances {
		in := &v.plan.Instances[i]
		v.part = "instance " + in.ID
		if v.plan.Programs.Lookup(in.Orchestration) == nil {
			continue
		}
		if len(v.plan.Programs.Versions(in.Orchestration, in.Version)) == 0 {
			v.fail("instance %s: program %s has no version %s", in.ID, in.Orchestration, in.Version)
		}
		if !program.IsInput(in.Input) {
			v.fail("instance %s: a program takes no input, and this one is %q", in.ID, in.Input)
		}
	}
}
