package command

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// A results file begins with a line that describes the campaign. One line per seed follows, in ascending order of
// seeds. A closing line ends the file; without it, the file is incomplete.

// resultsHead is the first line of a results file.
type resultsHead struct {
	Schema   int       `json:"schema"`
	Verb     string    `json:"verb"`
	Scenario string    `json:"scenario"` // as given on the command line
	Flags    planFlags `json:"flags"`
	// Plan is a hash of the first seed's plan. It is used to detect shards of a different scenario.
	Plan      string `json:"plan"`
	FirstSeed string `json:"first_seed"`
	Seeds     uint64 `json:"seeds"`
	Shard     uint64 `json:"shard"`
	Of        uint64 `json:"of"`
}

// resultLine is the result of one seed. Second is the digest of the seed's second run, if any.
type resultLine struct {
	Seed       string              `json:"seed"`
	Digest     string              `json:"digest,omitempty"`
	Second     string              `json:"second_digest,omitempty"`
	Steps      uint64              `json:"steps"`
	Turns      uint64              `json:"turns"`
	Calls      uint64              `json:"calls"`
	VirtualMs  int64               `json:"virtual_ms"`
	Violations []cluster.Violation `json:"violations,omitempty"`
	Fates      []cluster.Fate      `json:"fates,omitempty"`
	Help       []cluster.Help      `json:"help,omitempty"`
	Waits      []cluster.Wait      `json:"waits,omitempty"`
	Error      *crashJSON          `json:"internal_error,omitempty"`
}

// resultsEnd is the closing line of a results file.
type resultsEnd struct {
	End      bool              `json:"end"`
	Coverage map[string]uint64 `json:"coverage"`
}

// resultsWriter writes a results file. The file has a temporary name until it is complete.
type resultsWriter struct {
	path     string
	tmp      *os.File
	out      *bufio.Writer
	coverage map[string]uint64
	err      error
}

func newResults(path string, s *subject, seeds seedRange, part shard) (*resultsWriter, error) {
	hash, err := s.hash(seeds.first)
	if err != nil {
		return nil, err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".simrun-*")
	if err != nil {
		return nil, fmt.Errorf("--results %s: %w", path, err)
	}
	w := &resultsWriter{path: path, tmp: tmp, out: bufio.NewWriter(tmp), coverage: map[string]uint64{}}
	w.line(resultsHead{
		Schema: schema, Verb: "results", Scenario: s.arg, Flags: s.flags, Plan: hash,
		FirstSeed: decimal(seeds.first), Seeds: seeds.count, Shard: max(part.index, 1), Of: max(part.of, 1),
	})
	return w, nil
}

// hash returns a hash of the text of seed's plan.
func (s *subject) hash(seed uint64) (string, error) {
	plan, err := s.plan(seed)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(scenario.Format(plan))
	return hex.EncodeToString(sum[:]), nil
}

func (w *resultsWriter) line(v any) {
	data, err := json.Marshal(v)
	if err == nil {
		_, err = w.out.Write(append(data, '\n'))
	}
	w.err = errors.Join(w.err, err)
}

func (w *resultsWriter) add(r campaign.SeedResult) {
	line := resultLine{Seed: decimal(r.Seed)}
	if r.Crash != nil {
		line.Error = &crashJSON{decimal(r.Seed), r.Crash.Text, r.Crash.Stack}
	}
	if got := r.Result; got != nil {
		line.Digest, line.Steps, line.Turns, line.Calls, line.VirtualMs = got.Digest.String(), got.Steps, got.Turns, got.Calls, got.Virtual
		line.Violations, line.Fates, line.Help, line.Waits = got.Violations, got.Fates, got.Help, got.Waits
		for _, p := range got.Coverage {
			w.coverage[p.Name] += p.Count
		}
	}
	if r.Again != nil {
		line.Second = r.Again.Digest.String()
	}
	w.line(line)
}

// keep completes the file and renames it to its final name.
func (w *resultsWriter) keep() error {
	w.line(resultsEnd{End: true, Coverage: w.coverage})
	err := errors.Join(w.err, w.out.Flush(), w.tmp.Chmod(0o644), w.tmp.Close())
	if err == nil {
		err = os.Rename(w.tmp.Name(), w.path)
	}
	if err != nil {
		return fmt.Errorf("--results %s: %w", w.path, err)
	}
	return nil
}

// discard removes the file unless it was kept.
func (w *resultsWriter) discard() {
	_ = w.tmp.Close()
	if err := os.Remove(w.tmp.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return // a hidden file is left behind, as it would be after a crash
	}
}
