package command

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/workload"
)

// Program describes what a command simulates. The zero value simulates the builds and handlers shipped with durosim.
type Program struct {
	// Name is the program's name in help texts and messages. If empty, the name of the executable is used.
	Name string
	// Builds returns the builds that plans may name. Handlers registers the orchestrations and activities for a node's
	// build, as in cluster.Config. If nil, those shipped with durosim are used. Both functions are called once per run
	// or node, concurrently from several goroutines, and must always give the same result.
	Builds   func() []*engine.Build
	Handlers func(r *node.Registry, b *engine.Build) error
	// Applications are versions of the code to simulate, on every shipped runtime, in place of Builds and Handlers, as in
	// durosim.Config.
	Applications []durosim.Application
	// EachRun, if not nil, creates whatever belongs to a single run: handlers with state, invariants and monitors, as
	// in durosim.Config.
	EachRun func() durosim.Run
	// Input, if not nil, makes the inputs of a scenario's instances, as in durosim.Config.
	Input func(orchestration, input string) string
	// Scenario is the scenario to run if the command line names none. It is a file name or the name of a built-in
	// scenario. If empty, scenario.Default is used.
	Scenario string

	stores *stores           // stores of this invocation
	stored []string          // the orchestrations of the store that a plan begins with, as "Name@1.0.0"
	oddIDs *strings.Replacer // escapes ids of the plan that have control characters, or nil

	_ struct{} // forces callers to name the fields, because more will be added
}

// Main executes the process's command line and exits with the resulting status.
func Main(p Program) {
	campaign.CollectLess() // never restored, because several verbs keep running seeds until the process exits
	os.Exit(p.Run(os.Args[1:], os.Stdout, os.Stderr))
}

// deploy replaces applications by their builds and handlers.
func (p *Program) deploy() error {
	c, err := durosim.Config{Builds: p.Builds, Handlers: p.Handlers, Applications: p.Applications, EachRun: p.EachRun}.Deployed()
	if err == nil {
		p.Builds, p.Handlers, p.EachRun = c.Builds, c.Handlers, c.EachRun
	}
	return err
}

func (p *Program) name() string {
	return cmp.Or(p.Name, strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"))
}

// hint returns a command line for this program, quoted for use in a message.
func (p *Program) hint(arguments string) string { return `"` + p.name() + " " + arguments + `"` }

func (p *Program) builds() []*engine.Build {
	if p.Builds == nil {
		return engine.ShippedBuilds()
	}
	return p.Builds()
}

func (p *Program) newRun() durosim.Run {
	var run durosim.Run
	if p.EachRun != nil {
		run = p.EachRun()
	}
	if run.Handlers == nil {
		run.Handlers = p.Handlers
	}
	return run
}

func (p *Program) ownHandlers() bool { return p.newRun().Handlers != nil }

func (p *Program) registry(b *engine.Build) (*node.Registry, error) {
	handlers := p.newRun().Handlers
	if handlers == nil {
		handlers = workload.Handlers
	}
	r := node.NewRegistry()
	if err := handlers(r, b); err != nil {
		return nil, fmt.Errorf("handlers of build %s: %w", b.Name(), err)
	}
	return r, nil
}

// registered returns the names of all orchestrations and activities that nodes of any build may register.
// Orchestrations have the form "Name@1.0.0". Both lists are sorted.
func (p *Program) registered() (orchestrations, activities []string, err error) {
	for _, b := range p.builds() {
		r, err := p.registry(b)
		if err != nil {
			return nil, nil, err
		}
		orchestrations = append(orchestrations, r.Orchestrations()...)
		activities = append(activities, r.Activities()...)
	}
	orchestrations = append(orchestrations, p.stored...)
	slices.Sort(orchestrations)
	slices.Sort(activities)
	return slices.Compact(orchestrations), slices.Compact(activities), nil
}

// misspelt returns which property an id is nearly that of, or "". A program's monitor may give any id.
func (p *Program) misspelt(id string) string {
	ids := properties.Others()
	for _, known := range properties.Catalogue() {
		if ids = append(ids, known.ID); id == known.Name || id == known.String() {
			return "; it is " + known.ID
		}
	}
	if p.EachRun != nil {
		run := p.EachRun()
		own := func(i durosim.Invariant) bool { return i.Name == id }
		if run.Monitor != nil || slices.ContainsFunc(run.Invariants, own) {
			return ""
		}
	}
	if slices.Contains(ids, id) {
		return ""
	}
	return pretty.Hint(id, ids)
}
