package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/durosim/durosim/sim/scenario"
)

// smallest are edits of the sources that make every threshold so small that each run crosses it, and have everything
// that is kept decoded beside its bytes decoded again. No run may change by that.
var smallest = []struct{ file, old, new string }{
	{"memprovider/arena.go", "const arenaTokens = 4096", "const arenaTokens = 1"},
	{"memprovider/history.go", "const restFrom = 1024", "const restFrom = 1"},
	{"sim/cluster/world.go", "o.CallersClock, o.Plain = w.network.beforeAckStep, w.plan.Store.CallersClock, w.plan.Store.Plain",
		"o.CallersClock, o.Plain, o.Recheck = w.network.beforeAckStep, w.plan.Store.CallersClock, w.plan.Store.Plain, true"},
	{"internal/arena/arena.go", "Blocks     = 64", "Blocks     = 1"},
	{"internal/arena/arena.go", "blockBytes = 8 << 10", "blockBytes = 1"},
	{"engine/replay/arena.go", "const hostsAtOnce = 16", "const hostsAtOnce = 1"},
	{"engine/replay/arena.go", "const maxStamps = 16", "const maxStamps = 1"},
	{"engine/machine/arena.go", "const stepsAtOnce = 16", "const stepsAtOnce = 1"},
	{"sim/cluster/calltable.go", "callBlock = 64", "callBlock = 1"},
	{"sim/cluster/calltable.go", "dropEvery = 16", "dropEvery = 1"},
	{"sim/cluster/arena.go", "const callBlocks = 64", "const callBlocks = 1"},
	{"sim/internal/kernel/queue.go", "window = 1_000_000", "window = 1"},
	{"sim/internal/kernel/queue.go", "maxNear = 32", "maxNear = 2"},
	{"sim/internal/kernel/heap.go", "const nearHeap = 1 << 11", "const nearHeap = 1"},
	{"sim/internal/kernel/kernel.go", "const usuallyWaiting = 96", "const usuallyWaiting = 1"},
	{"sim/internal/kernel/kernel.go", "const minSweep = 64", "const minSweep = 1"},
	{"properties/internal/model/model.go", "const RowsPerPage = 64", "const RowsPerPage = 1"},
	{"properties/internal/track/rows.go", "keptPages = 64", "keptPages = 1"},
	{"properties/internal/model/changes.go", "const changesMax = 1024", "const changesMax = 1"},
}

// small implements `simdev small`: it compares the runs of the built-in scenarios with those of a build in which every
// threshold is as small as can be. The exit status is 4 if one differs.
func small(args []string) error {
	f := flag.NewFlagSet("simdev small", flag.ContinueOnError)
	seeds := f.Int("seeds", 4, "how `MANY` seeds of each scenario, with its own faults and with full ones")
	if err := f.Parse(args); err != nil {
		return err
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "small")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	overlay, err := editedIn(root, dir)
	if err != nil {
		return err
	}
	programs := [2]string{filepath.Join(dir, "simrun"), filepath.Join(dir, "small")}
	for i, more := range [][]string{nil, {"-overlay", overlay}} {
		build := exec.Command("go", append(append([]string{"build"}, more...), "-o", programs[i], "./cmd/simrun")...)
		build.Dir, build.Stderr = root, os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("%s: %w", build, err)
		}
	}
	differ, runs := 0, 0
	for _, s := range scenario.Builtin() {
		for _, level := range []string{"", "full"} {
			args := []string{"run", s.Name, "--seeds", strconv.Itoa(*seeds), "--json"}
			if level != "" {
				args = append(args, "--faults", level)
			}
			var said [2]string
			for i, program := range programs {
				out, _ := exec.Command(program, args...).Output() // a campaign that fails has a digest, too
				var report struct{ Digest string }
				if err := json.Unmarshal(out, &report); err != nil || report.Digest == "" {
					return fmt.Errorf("%s %s: no digest: %v", filepath.Base(program), strings.Join(args, " "), err)
				}
				said[i] = report.Digest
			}
			if runs += *seeds; said[0] != said[1] {
				differ++
				fmt.Printf("%s: %s, and %s with small thresholds\n", strings.Join(args, " "), said[0], said[1])
			}
		}
	}
	fmt.Printf("%d runs with %d thresholds as small as can be, everything decoded again: %d campaigns differ\n", runs, len(smallest), differ)
	if differ > 0 {
		return errFound
	}
	return nil
}

// editedIn writes the edited sources to dir, and returns the file that the go command takes as an overlay.
func editedIn(root, dir string) (string, error) {
	texts, replace := map[string]string{}, map[string]string{}
	for _, e := range smallest {
		if texts[e.file] == "" {
			data, err := os.ReadFile(filepath.Join(root, e.file))
			if err != nil {
				return "", err
			}
			texts[e.file] = string(data)
		}
		if strings.Count(texts[e.file], e.old) != 1 {
			return "", errors.New(e.file + " does not have one " + e.old)
		}
		texts[e.file] = strings.Replace(texts[e.file], e.old, e.new, 1)
	}
	for file, text := range texts {
		edited := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(edited, []byte(text), 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(root, file)] = edited
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, data, 0o644)
}
