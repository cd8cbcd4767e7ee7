package workload

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
)

// Application is one version of an application. Register registers its handlers on a node.
type Application struct {
	Version  string
	Register func(r *node.Registry) error
}

// Deploy returns the builds of a cluster in which the runtime and the application are upgraded independently: each of
// the given shipped runtimes combined with each version of the application. Plans name them RUNTIME+APPLICATION, as in
// "node A runs 1.5.0+1.0.0" and "upgrade A to 2.0.0+1.1.0". Pass the handlers to
// cluster.Config or durosim.Config, with the builds, or for the latter a function that returns them. Deploy returns an error that names the runtime or application if a runtime is not shipped or given twice, or an
// application is given twice or registers nothing.
func Deploy(runtimes []string, versions ...Application) (builds []*engine.Build, handlers func(*node.Registry, *engine.Build) error, err error) {
	for i, v := range versions {
		switch {
		case v.Version == "":
			return nil, nil, fmt.Errorf("workload: Applications[%d].Version is not set", i)
		case v.Register == nil:
			return nil, nil, fmt.Errorf("workload: application %q: Register is not set", v.Version)
		case slices.ContainsFunc(versions[:i], func(have Application) bool { return have.Version == v.Version }):
			return nil, nil, fmt.Errorf("workload: application %s is given twice", v.Version)
		}
	}
	shipped := engine.ShippedBuilds()
	for _, name := range runtimes {
		i := slices.IndexFunc(shipped, func(b *engine.Build) bool { return b.Name() == name })
		if i < 0 {
			return nil, nil, fmt.Errorf("workload: there is no shipped runtime %q", name)
		}
		for _, v := range versions {
			b := *shipped[i]
			b.Application = v.Version
			if slices.ContainsFunc(builds, func(have *engine.Build) bool { return have.Name() == b.Name() }) {
				return nil, nil, fmt.Errorf("workload: build %s is given twice", b.Name())
			}
			builds = append(builds, &b)
		}
	}
	versions = slices.Clone(versions)
	handlers = func(r *node.Registry, b *engine.Build) error {
		i := slices.IndexFunc(versions, func(v Application) bool { return v.Version == b.Application })
		if i < 0 {
			return fmt.Errorf("workload: there is no application %q for build %s", b.Application, b.Name())
		}
		return versions[i].Register(r)
	}
	return builds, handlers, nil
}

// WithOutputs returns a copy of a registry whose orchestrations give change's result in place of their output.
func WithOutputs(r *node.Registry, change func(output string) string) *node.Registry {
	c := r.Clone()
	for _, have := range c.Orchestrations() {
		name, version, _ := strings.Cut(have, "@")
		was, _ := c.ResolveStarted(name, version)
		c.Deregister(name, was.Version)
		_ = c.Register(name, was.Version, func(ctx *orch.Context, input string) (string, error) { // no error: it was registered
			output, err := was.Handler(ctx, input)
			return change(output), err
		})
	}
	return c
}
