package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/durosim/durosim/internal/campaign"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// storeFailures writes a stored run for the first failure of each property and returns the files' names. No file is
// ever there half-written.
func storeFailures(dir string, s *subject, sum *campaign.Summary) (files []string, err error) {
	if len(sum.Properties) == 0 {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	var seeds []uint64
	for _, p := range sum.Properties {
		if !slices.Contains(seeds, p.FirstSeed) {
			seeds = append(seeds, p.FirstSeed)
		}
	}
	for _, seed := range seeds {
		entry, err := s.entry(seed)
		if err != nil {
			return files, err
		}
		path := filepath.Join(dir, entry.Name())
		if err := writeWhole(path, entry.Format()); err != nil {
			return files, fmt.Errorf("--out: %w", err)
		}
		files = append(files, path)
	}
	return files, nil
}

// entry runs a seed once more and makes a stored run of it, with the fewest choices written down that still violate what
// the seed violated first: none, those of faults, or all.
func (s *subject) entry(seed uint64) (*scenario.Entry, error) {
	cfg, err := s.config(seed)
	if err != nil {
		return nil, err
	}
	all := &sim.Recording{}
	cfg.Recording = all
	result, err := cluster.Run(cfg)
	if err != nil {
		return nil, err
	}
	recording := all
	first := result.Violations[0].Property
	for _, fewer := range []*sim.Recording{keep(all, func(string) bool { return false }), keep(all, isFault)} {
		cfg.Recording, cfg.Chooser = nil, sim.Replay(fewer)
		again, err := cluster.Run(cfg)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(again.Violations, func(v cluster.Violation) bool { return v.Property == first }) {
			recording, result = fewer, again
			break
		}
	}
	var ids []string
	for _, v := range result.Violations {
		ids = append(ids, v.Property)
	}
	found := strings.TrimPrefix(scenario.Violates(ids...), "violates ")
	for _, id := range cfg.Plan.Bugs {
		found += " " + string(id)
	}
	return &scenario.Entry{
		Plan: cfg.Plan, Expect: s.scenario.Expect, Recording: recording, Seed: seed, Mode: scenario.ModeRecorded,
		Found: found, Verdict: scenario.Violates(ids...), Digest: result.Digest.String(),
		Note: "first shown by: " + s.repro(seed),
	}, nil
}

// keep is a recording with the choices whose keys are wanted; the others take the benign value.
func keep(r *sim.Recording, want func(key string) bool) *sim.Recording {
	kept := &sim.Recording{Seed: r.Seed, SeededOrder: r.SeededOrder}
	for _, c := range r.Choices {
		if want(c.Key.String()) {
			kept.Choices = append(kept.Choices, c)
		}
	}
	return kept
}

// isFault says whether a choice is about a fault: that it happens, or how.
func isFault(key string) bool { return strings.Contains(key, "/fault:") }

// writeWhole writes a file under another name and then renames it.
func writeWhole(path string, data []byte) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".simrun-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp.Name()) // the first error is the one to tell
		}
	}()
	if _, err = tmp.Write(data); err != nil {
		_ = tmp.Close()
		return err
	}
	if err = tmp.Chmod(0o644); err != nil {
		_ = tmp.Close()
		return err
	}
	if err = tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
