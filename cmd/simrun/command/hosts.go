package command

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/timeline"
)

// hostsCmd implements `simrun hosts`, which manages the programs that host released runtimes.
type hostsCmd struct {
	List  hostsListCmd  `cmd:"" default:"withargs" group:"Commands:" help:"List the host programs: which are built, and where (the default)."`
	Build hostsBuildCmd `cmd:"" group:"Commands:" help:"Build host programs with cargo."`
}

// Help returns the text printed below the flags.
func (hostsCmd) Help() string {
	return `A node that runs a released duroxide needs a host program with that release. Cargo builds host programs, once for each version of their sources, in the user's cache directory, or in the directory that the environment variable DUROSIM_HOSTS names. A checkout of duroxide, or a patched copy, can be a release, too: node A runs duroxide 0.1.33-head.

Examples:

    simrun hosts
    simrun hosts build
    simrun hosts build --crate ../duroxide --as 0.1.33-head
    simrun run real-rolling-upgrade --seeds 100

Exit status: 0 listed or built, 2 usage, or a host that cannot be built.`
}

type hostsListCmd struct {
	JSON bool `name:"json" help:"Print one JSON object on standard output and nothing else."`
}

type hostJSON struct {
	Release string `json:"release"`
	Built   bool   `json:"built"`
	Program string `json:"program"`
}

func (c *hostsListCmd) run(a *app) (int, error) {
	hosts := releases()
	var out struct { // printed by hosts --json
		Hosts []hostJSON `json:"hosts"`
	}
	for _, b := range slices.Concat(engine.ReleasedBuilds(), hosts.Own()) {
		out.Hosts = append(out.Hosts, hostJSON{Release: strings.TrimPrefix(b.Release, engine.ReleasePrefix), Built: hosts.Built(b), Program: hosts.Program(b)})
	}
	if c.JSON {
		return exitOK, a.writeJSON("hosts", out)
	}
	t := timeline.Table{Head: []string{"duroxide", "host program", "path"}}
	missing := false
	for _, h := range out.Hosts {
		state := "built"
		if !h.Built {
			state, missing = "not built", true
		}
		t.Row(!h.Built, h.Release, state, h.Program)
	}
	a.printTable("", t, 3)
	if missing {
		cargo, err := exec.LookPath("cargo")
		if err != nil {
			cargo = "cargo, which is not installed: https://rustup.rs"
		}
		a.printf("\n%s builds the missing ones, with %s\n", a.program.hint("hosts build"), cargo)
	}
	return exitOK, nil
}

type hostsBuildCmd struct {
	Releases []string `arg:"" optional:"" name:"release" help:"The releases to build hosts for, such as 0.1.32; all if none is named."`
	Crate    string   `name:"crate" placeholder:"DIR" help:"Build a host for the crate of duroxide in a directory instead, such as a patched copy."`
	As       string   `name:"as" placeholder:"NAME" help:"Its name: the crate's version and a label, such as 0.1.33-head."`
}

func (c *hostsBuildCmd) run(a *app) (int, error) {
	builds, err := c.builds()
	if err != nil {
		return 0, err
	}
	hosts := releases()
	ctx := a.interruptible()
	for _, b := range builds {
		name := strings.TrimPrefix(b.Release, engine.ReleasePrefix)
		fmt.Fprintf(a.stderr, "building the host of duroxide %s\n", name)
		var err error
		if c.Crate != "" {
			err = hosts.BuildCrate(ctx, b, c.Crate, a.stderr)
		} else {
			err = hosts.Build(ctx, b, a.stderr)
		}
		if errors.Is(err, context.Canceled) {
			return exitStopped, nil
		} else if err != nil {
			return 0, err
		}
		a.printf("%s   %s\n", name, hosts.Program(b))
	}
	return exitOK, nil
}

func (c *hostsBuildCmd) builds() ([]*engine.Build, error) {
	if c.Crate != "" || c.As != "" {
		b := engine.ReleasedBuild(c.As)
		if c.Crate == "" || len(c.Releases) > 0 || b == nil || b.Version.String() == c.As {
			return nil, fmt.Errorf("hosts build: expected --crate DIR --as NAME and no release; NAME is the crate's version and a label, such as 0.1.33-head")
		}
		return []*engine.Build{b}, nil
	}
	if len(c.Releases) == 0 {
		return engine.ReleasedBuilds(), nil
	}
	var out []*engine.Build
	for _, name := range c.Releases {
		b := engine.ReleasedBuild(strings.TrimPrefix(name, engine.ReleasePrefix))
		if b == nil || b.Version.String() != strings.TrimPrefix(name, engine.ReleasePrefix) {
			known := idsOf(engine.ReleasedBuilds(), func(b *engine.Build) string { return b.Version.String() })
			return nil, fmt.Errorf("hosts build %q: expected one of %s", name, strings.Join(known, ", "))
		}
		out = append(out, b)
	}
	return out, nil
}
