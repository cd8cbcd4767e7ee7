package cluster

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/program"
	"github.com/durosim/durosim/sim/workload"
)

// registryOf returns a new registry for a node that runs the given build. It has the handlers that the build ships,
// limited to those listed for the node if the plan lists any, and the plan's programs.
func (f *fleet) registryOf(n *plan.Node, b *engine.Build) (*node.Registry, error) {
	r := node.NewRegistry()
	var declared []*plan.Build
	if b.Release == "" { // a released runtime runs programs only
		var err error
		if r, err = f.shippedBy(n, b); err != nil {
			return nil, err
		}
		declared, _ = f.plan.Ancestors(b.Name())
	}
	if n.Handlers != nil {
		activities, only := r.Activities(), node.NewRegistry() // not r without the others: a registry remembers what it once had
		only.Adopt(r, func(code string) bool { return slices.Contains(n.Handlers, code) || slices.Contains(activities, code) })
		r = only
	}
	programs := slices.DeleteFunc(f.plan.Programs.Clone(), func(p program.Program) bool {
		code := p.Name + "@" + p.At()
		return lacks(declared, code) || limits(n.Handlers, code)
	})
	if err := workload.RegisterPrograms(r, programs); err != nil {
		return nil, fmt.Errorf("with the handlers of build %s: %w", b.Name(), err)
	}
	return r, nil
}

// Registered lists the orchestrations, as NAME@VERSION, that a node of the plan has when it starts with a build, before any
// step changes them. It is nil if there is no such node or build.
func (cfg Config) Registered(name, build string) []string {
	known := cfg.Builds
	if known == nil {
		known = engine.ShippedBuilds()
	}
	cfg.Builds = slices.Concat(known, cfg.Plan.Releases())
	if cfg.Handlers == nil {
		cfg.Handlers = workload.Handlers
	}
	f := &fleet{base: &base{cfg: &cfg, plan: cfg.Plan}, arena: &Arena{}}
	builds, err := cfg.Plan.AllBuilds(cfg.Builds)
	i, b := f.number(name), plan.FindBuild(builds, build)
	if err != nil || i == 0 || b == nil {
		return nil
	}
	r, err := f.registryOf(&cfg.Plan.Nodes[i-1], b)
	if err != nil {
		return nil // a run says why
	}
	return r.Orchestrations()
}

// lacks reports whether one of a build's declarations, starting with its own, removes the program's version.
func lacks(declared []*plan.Build, code string) bool {
	named := func(list []string) bool {
		return slices.ContainsFunc(list, func(name string) bool { return plan.Applies(name, code) })
	}
	for _, d := range declared {
		switch {
		case named(d.Handlers.Without), limits(d.Handlers.Only, code):
			return true
		case named(d.Handlers.With):
			return false
		}
	}
	return false
}

// limits reports whether a list of handlers names the program, but only in other versions. A list that does not name it
// leaves it.
func limits(list []string, code string) bool {
	program, _, _ := strings.Cut(code, "@")
	of := func(name string) bool { own, _, _ := strings.Cut(name, "@"); return own == program }
	return slices.ContainsFunc(list, of) && !slices.ContainsFunc(list, func(name string) bool { return plan.Applies(name, code) })
}

// shippedBy returns a registry with the handlers that a build ships. It is new, or shared with others if the node's
// handlers never change. durosim's own handlers are registered once per run or, for durosim's own builds, once per
// Arena.
func (f *fleet) shippedBy(n *plan.Node, b *engine.Build) (*node.Registry, error) {
	for _, list := range [...][]shippedRegistry{f.shipped, f.arena.shipped} {
		for i := range list {
			switch {
			case list[i].build != b:
			case f.keepsHandlers(n):
				return list[i].registry, nil
			default:
				return list[i].registry.Clone(), nil
			}
		}
	}
	declared, known := f.plan.Ancestors(b.Name())
	r, err := f.register(known)
	if err != nil {
		return nil, err
	}
	for _, d := range slices.Backward(declared) {
		if err := f.change(r, &d.Handlers); err != nil {
			return nil, fmt.Errorf("handlers of build %s: %w", d.Name, err)
		}
	}
	switch {
	case !f.shippedHandlers:
	case len(declared) == 0 && slices.Contains(f.arena.builds, b):
		f.arena.shipped = append(f.arena.shipped, shippedRegistry{b, r.Clone()})
	default:
		f.shipped = append(f.shipped, shippedRegistry{b, r.Clone()})
	}
	return r, nil
}

// keepsHandlers reports whether the plan leaves the handlers of the node's builds unchanged.
func (f *fleet) keepsHandlers(n *plan.Node) bool {
	return n.Handlers == nil && len(f.plan.Programs) == 0 && !slices.ContainsFunc(f.plan.Schedule, func(s plan.Step) bool {
		return s.Node == n.Name && (s.Verb == plan.VerbRegister || s.Verb == plan.VerbDeregister)
	})
}

// register returns a new registry with the handlers of a build that is not declared by the plan.
func (f *fleet) register(known string) (*node.Registry, error) {
	r := node.NewRegistry()
	if err := f.cfg.Handlers(r, plan.FindBuild(f.cfg.Builds, known)); err != nil {
		return nil, fmt.Errorf("handlers of build %s: %w", known, err)
	}
	return r, nil
}

// change applies a declared build's changes to the handlers of the build it is based on.
func (f *fleet) change(r *node.Registry, c *plan.HandlerChange) error {
	if c.Only != nil {
		for _, name := range slices.Concat(r.Orchestrations(), r.Activities()) {
			if !slices.ContainsFunc(c.Only, func(only string) bool { return plan.Applies(only, name) }) {
				withdraw(r, name)
			}
		}
	}
	for _, name := range slices.Concat(c.Only, c.With) {
		if own, _, _ := strings.Cut(name, "@"); f.plan.Programs.Lookup(own) != nil {
			continue // registered by registryOf
		}
		if err := f.ship(r, name); err != nil {
			return err
		}
	}
	for _, name := range c.Without {
		withdraw(r, name)
	}
	return nil
}

// ship registers the handlers that a name stands for, as shipped with the known builds, unless they are already
// registered.
func (f *fleet) ship(r *node.Registry, name string) error {
	found := false
	for _, b := range f.cfg.Builds {
		if b.Release != "" {
			continue
		}
		from, err := f.register(b.Name())
		if err != nil {
			return err
		}
		found = r.Adopt(from, func(code string) bool { return plan.Applies(name, code) }) || found
	}
	if !found {
		return fmt.Errorf("no known build ships %s", name)
	}
	return nil
}

// withdraw deregisters the handlers that a name stands for: one version of an orchestration, all its versions, or an
// activity.
func withdraw(r *node.Registry, name string) {
	for _, have := range r.Orchestrations() {
		if n, v, err := plan.ParseHandler(have); err == nil && plan.Applies(name, have) {
			r.Deregister(n, v)
		}
	}
	r.DeregisterActivity(name)
}
