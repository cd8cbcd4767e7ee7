package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/sim/cluster"
)

// ErrNoProvider reports that the contract allows every answer that the store gave during the run.
var ErrNoProvider = errors.New("every answer of the store is one that the contract allows, so its calls show no mistake; what it stored can be wrong all the same")

// Calls executes a run and returns a log of its provider calls and their answers, one JSON object per line. The log
// ends with the first answer that the contract does not allow, and refusal explains why. If there is no such answer,
// the error is ErrNoProvider. The run's store must start empty, only calls may change it, and every node must run a
// shipped build.
func Calls(cfg cluster.Config) (log []byte, refusal *oracle.Refusal, err error) {
	if p := cfg.Plan; len(p.Histories) > 0 || p.Contents != nil {
		return nil, nil, errors.New("the run's store does not begin empty: calls alone do not lead to its state")
	}
	for _, build := range cfg.Plan.RunBuilds() {
		if declared, _ := cfg.Plan.Ancestors(build); len(declared) > 0 {
			return nil, nil, unread(build)
		}
	}
	w := &recorder{judge: oracle.New(oracle.Options{})}
	inner := cfg.Monitor
	cfg.Monitor = func(world *cluster.World) cluster.Monitor {
		w.Monitor, w.world = inner(world), world
		return w
	}
	if _, err := cluster.Run(cfg); err != nil {
		return nil, nil, err
	}
	switch {
	case w.err != nil:
		return nil, nil, w.err
	case w.refusal == nil:
		return nil, nil, ErrNoProvider
	}
	return w.log.Bytes(), w.refusal, nil
}

func unread(build string) error {
	return fmt.Errorf("a node runs build %s, which does not come with durosim, and a log does not say what that reads", build)
}

// recorder is a monitor that logs the calls made through any handle of the store.
type recorder struct {
	cluster.Monitor
	world   *cluster.World
	judge   *oracle.Oracle
	log     bytes.Buffer
	number  uint64
	refusal *oracle.Refusal
	err     error
}

func (r *recorder) WatchHandle(p engine.Provider, codec engine.Codec) engine.Provider {
	shipped := func(b *engine.Build) bool { return b.Codec.Name() == codec.Name() }
	if r.err == nil && !slices.ContainsFunc(engine.ShippedBuilds(), shipped) {
		r.err = unread(codec.Name())
	}
	return oracle.Watch(cluster.WatchHandle(r.Monitor, p, codec), codec.Name(), r.world.NowMs, r.add)
}

func (r *recorder) add(e oracle.Exchange) {
	if r.refusal != nil || r.err != nil {
		return
	}
	r.number += 2
	line, err := json.Marshal(oracle.LogEntry{Began: r.number - 1, Ended: r.number, Exchange: e})
	if err != nil {
		r.err = fmt.Errorf("a call has no form in a log: %w", err)
		return
	}
	r.log.Write(append(line, '\n'))
	r.refusal = r.judge.Apply(e)
}
