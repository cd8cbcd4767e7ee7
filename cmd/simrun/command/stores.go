package command

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/internal/commandline"
	"github.com/durosim/durosim/sim/cluster"
)

// stores manages the foreign stores used by runs. Each store is a process that serves a provider. A process serves one
// run at a time, so the number of processes equals the number of concurrent runs.
type stores struct {
	mu   sync.Mutex
	idle map[string][]*remote // idle processes, keyed by command line
}

// storePatience is the maximum time that a store may take to answer a call during a run.
const storePatience = 10 * time.Second

// of returns a function that creates a run's store. The provider is served by the program in the command line.
func (s *stores) of(line string) (func(startMs int64) (*cluster.ForeignStore, error), error) {
	words, err := commandline.Split(line)
	if err == nil && len(words) == 0 {
		err = errors.New("expected a command")
	}
	if err != nil {
		return nil, fmt.Errorf("--provider %q: %w", line, err)
	}
	return func(startMs int64) (*cluster.ForeignStore, error) {
		peer, err := s.take(line, words, startMs)
		if err != nil {
			return nil, err
		}
		return s.store(line, peer), nil
	}, nil
}

// take returns a process with an empty store, whose clock is not ahead of startMs.
func (s *stores) take(line string, words []string, startMs int64) (*remote, error) {
	s.mu.Lock()
	var peer *remote
	if n := len(s.idle[line]); n > 0 {
		peer = s.idle[line][n-1]
		s.idle[line] = s.idle[line][:n-1]
	}
	s.mu.Unlock()
	if peer != nil {
		if now, err := peer.empty(); err == nil && now <= startMs {
			return peer, nil
		}
		_ = peer.stop() // its clock cannot be set back
	}
	peer, err := start(words, storePatience)
	if err != nil {
		return nil, err
	}
	now, err := peer.empty()
	switch {
	case err != nil:
	case !peer.client.Described().VirtualClock:
		err = errors.New("virtual_clock is false, but a cluster runs only in virtual time")
	case now > startMs:
		err = fmt.Errorf("its clock shows %d at the start, but a run begins at %d", now, startMs)
	default:
		return peer, nil
	}
	_ = peer.stop()
	return nil, fmt.Errorf("%s: %w", line, err)
}

// empty clears the remote store and returns its clock's current time.
func (r *remote) empty() (int64, error) {
	if err := r.client.Reset(context.Background()); err != nil {
		return 0, err
	}
	return r.client.Now(context.Background())
}

// store lends a process's store to one run. After the run, the process becomes idle again.
func (s *stores) store(line string, peer *remote) *cluster.ForeignStore {
	ctx, d := context.Background(), peer.client.Described()
	out := &cluster.ForeignStore{
		Provider: peer.client, Broken: peer.client.Failure,
		SetNow: func(ms int64) error { return peer.client.SetNow(ctx, ms) },
		Close: func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if peer.client.Failure() != nil || s.idle == nil {
				_ = peer.stop()
				return
			}
			s.idle[line] = append(s.idle[line], peer)
		},
	}
	if d.CorruptEvent {
		out.CorruptEvent = func(instance string, execution, event uint64) error {
			return peer.client.CorruptEvent(ctx, call.CorruptEvent{Instance: instance, ExecutionID: execution, EventID: event})
		}
	}
	if d.CorruptMessage {
		out.CorruptMessage = func(item engine.WorkItem) error {
			return peer.client.CorruptMessage(ctx, call.CorruptMessage{Item: item})
		}
	}
	if d.FailAckStep {
		out.FailAckStep = func(step int) { _ = peer.client.FailAckStep(ctx, step) } // Broken reports any error
	}
	return out
}

// close stops the idle processes.
func (s *stores) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, list := range s.idle {
		for _, peer := range list {
			_ = peer.stop()
		}
	}
	s.idle = nil
}
