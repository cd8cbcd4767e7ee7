package durosim

import (
	"errors"
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/workload"
)

// Application is one version of the code under test. Plans name its builds RUNTIME+VERSION, as in "node A runs
// 1.5.0+1.0.0" and "upgrade A to 1.5.0+1.1.0".
type Application = workload.Application

// Deployed returns c with the builds and handlers of its applications, which Test does by itself. It returns an error if c
// has builds or handlers beside them, a version twice, or an invariant that cannot be.
func (c Config) Deployed() (Config, error) {
	versions, each := c.Applications, c.EachRun
	if each != nil {
		var own Run
		if err := called("Config.EachRun", func() error { own = each(); return nil }); err != nil {
			return c, err
		}
		if err := own.validate(); err != nil {
			return c, fmt.Errorf("Config.EachRun: %w", err)
		}
		if own.Applications != nil {
			if versions != nil {
				return c, errors.New("Config.Applications and Run.Applications: leave one out")
			}
			versions = own.Applications
			c.EachRun = func() Run {
				run := each()
				// The versions are those that were deployed below, so there can be no error.
				_, run.Handlers, _ = workload.Deploy(nil, run.Applications...)
				return run
			}
		}
	}
	if versions == nil {
		return c, nil
	}
	if c.Builds != nil || c.Handlers != nil {
		return c, errors.New("Config has Applications, which bring builds and handlers of their own: leave out Builds and Handlers")
	}
	var runtimes []string
	for _, b := range engine.ShippedBuilds() {
		runtimes = append(runtimes, b.Name())
	}
	builds, handlers, err := workload.Deploy(runtimes, versions...)
	if err != nil {
		return c, err
	}
	c.Builds, c.Handlers = func() []*engine.Build { return builds }, handlers
	return c, nil
}
