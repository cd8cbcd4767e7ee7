package matrix

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/durosim/durosim/internal/dev/mutate"
)

// fate is the outcome of trying a mutant.
type fate string

const (
	idle    fate = "idle"        // no digest differs and no judge objects
	unseen  fate = "acts unseen" // digests differ but no judge objects
	byTests fate = "by unit tests alone"
	caught  fate = "caught"
)

// result is the result of trying a mutant.
type result struct {
	Key, Where string
	Package    string
	Kind       mutate.Kind
	Fate       fate
	// By names the judge that objected or the tests that failed. Property is the property named in the first objection.
	By, Property string
	Seeds        int
	Seconds      float64
}

func (t *trials) keep(m *mutate.Mutant, r result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.results[m.Key()] = r
	fmt.Fprintf(os.Stderr, "%4d %-20s %-12s %-10s %5.1fs %s\n", len(t.results), r.Fate, r.By, r.Property[:min(len(r.Property), 10)], r.Seconds, r.Key)
	if t.state == "" {
		return
	}
	f, err := os.OpenFile(t.state, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err == nil {
		err = errors.Join(json.NewEncoder(f).Encode(r), f.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "matrix: the state is not kept:", err)
	}
}

// load reads the results of previous runs.
func (t *trials) load() error {
	t.results = map[string]result{}
	if t.state == "" {
		return nil
	}
	data, err := os.ReadFile(t.state)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		var r result
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			return fmt.Errorf("%s: %w", t.state, err)
		}
		t.results[r.Key] = r
	}
	return err
}
