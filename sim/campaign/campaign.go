package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"

	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// Options configures a campaign.
type Options struct {
	// Plan expands seed into the plan for its run. It is called concurrently from several goroutines, so it must not
	// modify shared data. The run owns the returned plan.
	Plan func(seed uint64) (*plan.Plan, error)
	// First and Count select the seeds First, First+1, and so on. Count must not be 0.
	First, Count uint64
	// Shard selects every Of-th seed, which may be none. The zero value selects all seeds.
	Shard Shard
	// Workers is the number of concurrent runs; 0 means GOMAXPROCS.
	Workers int
	// Config returns a run's configuration, except for its plan and seed: builds, handlers and monitor. It is called
	// once per run, concurrently from several goroutines, so that runs share nothing. Nil means the zero configuration.
	Config func() cluster.Config
	// Chooser, if not nil, returns the chooser for seed's run. If it is nil, the chooser from Config is used. It is
	// called concurrently from several goroutines.
	Chooser func(seed uint64) sim.Chooser
	// KeepGoing makes the campaign run all seeds. By default, it stops at the first failing seed. It always stops at a seed
	// whose code does not come back, since each takes real time.
	KeepGoing bool
	// Until, if not nil, stops the campaign at the first seed for whose result it returns true.
	Until func(r *cluster.Result) bool
	// Twice is the number of seeds, counting from the first, that are run a second time to compare the digests.
	Twice uint64
	// MaxViolations is the maximum number of violations that Summary keeps in full; 0 means 10,000. Further violations
	// are only counted.
	MaxViolations int
	// Ignore, if not nil, reports whether a violation does not count, since it is known. It is called when the seed is
	// merged, on the goroutine that called Run.
	Ignore func(seed uint64, v cluster.Violation) bool
	// AllInstances makes Summary.Fate list every instance, including those that completed as expected.
	AllInstances bool
	// Context, if not nil, interrupts the campaign when it is done. The result then covers the seeds merged so far.
	// Runs in progress are abandoned.
	Context context.Context
	// OnResult, if not nil, is called with each result when it is merged, in seed order, on the goroutine that called
	// Run. Passing these results to Merge gives the same summary.
	OnResult func(r SeedResult)
	// OnProgress, if not nil, is called after each seed is merged, on the goroutine that called Run.
	OnProgress func(p Progress)
}

// Progress counts the seeds of a campaign: finished, failed and requested.
type Progress struct{ Done, Failed, Total uint64 }

// Shard identifies one of Of equal parts of a campaign. Index ranges from 1 to Of. The zero value is the whole
// campaign.
type Shard struct{ Index, Of uint64 }

const defaultMaxViolations = 10_000

func (o *Options) validate() error {
	switch {
	case o.Plan == nil:
		return errors.New("campaign: Options.Plan is not set")
	case o.Count == 0:
		return errors.New("campaign: no seeds: Options.Count is 0")
	case o.Count-1 > math.MaxUint64-o.First:
		return fmt.Errorf("campaign: %d seeds from %d on exceed the largest seed, %d", o.Count, o.First, uint64(math.MaxUint64))
	case o.Workers < 0:
		return fmt.Errorf("campaign: %d workers", o.Workers)
	case o.MaxViolations < 0:
		return fmt.Errorf("campaign: at most %d violations", o.MaxViolations)
	}
	o.Shard = cmp.Or(o.Shard, Shard{Index: 1, Of: 1})
	if o.Shard.Of == 0 || o.Shard.Index == 0 || o.Shard.Index > o.Shard.Of {
		return fmt.Errorf("campaign: shard %d/%d: expected the index of a part, from 1, and the number of parts", o.Shard.Index, o.Shard.Of)
	}
	o.Context, o.Workers = cmp.Or(o.Context, context.Background()), cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	o.MaxViolations = cmp.Or(o.MaxViolations, defaultMaxViolations)
	return nil
}

func (o *Options) total() uint64 { return ShardSize(o.Count, o.Shard) }

// ShardSize returns the number of seeds in shard s of a campaign of that many seeds.
func ShardSize(seeds uint64, s Shard) uint64 {
	first := s.Index - 1
	if seeds <= first {
		return 0
	}
	return (seeds-first-1)/s.Of + 1
}

// seed returns the shard's i-th seed, counting from 0. i must be less than total.
func (o *Options) seed(i uint64) uint64 { return o.First + o.Shard.Index - 1 + i*o.Shard.Of }

// PlanError reports that a seed has no run because its plan cannot be expanded or is invalid. The mistake is in the
// input, not in durosim.
type PlanError struct {
	Seed uint64
	Err  error
}

// Error returns the seed and the underlying error.
func (e *PlanError) Error() string { return fmt.Sprintf("seed %d: %v", e.Seed, e.Err) }

// Unwrap returns the underlying error.
func (e *PlanError) Unwrap() error { return e.Err }

// Run runs a campaign. It returns an error if the options are invalid, and a *PlanError for the first seed without a
// valid plan, beside a Summary of the seeds before it. Violations are not errors; they are in the Summary. CollectLess is
// in effect during the campaign.
func Run(o Options) (*Summary, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	defer CollectLess()()
	m := newMerge(&o)
	total := o.total()
	free := make(chan *cluster.Arena, o.Workers)
	job := func(i uint64) seedRun {
		var memory *cluster.Arena
		select {
		case memory = <-free:
		default:
			memory = &cluster.Arena{}
		}
		out := o.run(i, memory)
		if out.Crash == nil && !out.stuck() {
			free <- memory
		}
		return out
	}
	var planErr error
	InOrder(o.Context, total, o.Workers, job, func(i uint64, out seedRun) (goOn bool) {
		out.Seed = o.seed(i)
		if out.err != nil {
			planErr = &PlanError{Seed: out.Seed, Err: out.err}
			return false
		}
		goOn = m.add(out.SeedResult)
		if o.OnResult != nil {
			o.OnResult(out.SeedResult)
		}
		if o.OnProgress != nil {
			o.OnProgress(Progress{Done: i + 1, Failed: m.sum.Seeds - m.sum.Passed, Total: total})
		}
		return goOn
	})
	sum := m.summary()
	if planErr != nil {
		return sum, planErr
	}
	sum.Interrupted = o.Context.Err() != nil && sum.Seeds < total
	return sum, nil
}

// seedRun is the outcome of running one seed. err is set if the seed could not run.
type seedRun struct {
	SeedResult
	err error
}

// stuck reports whether code of the run did not come back. It may still use the run's memory.
func (s *SeedResult) stuck() bool {
	return s.Result != nil && len(s.Result.Violations) > 0 && s.Result.Violations[0].Property == cluster.PropertyHandlerReturns
}

func (o *Options) run(i uint64, memory *cluster.Arena) (out seedRun) {
	seed := o.seed(i)
	defer func() {
		if p := recover(); p != nil {
			out = seedRun{SeedResult: SeedResult{Crash: NewInternalError(seed, p)}}
		}
	}()
	out.Result, out.err = o.once(seed, memory)
	if i < o.Twice && out.err == nil && !out.stuck() {
		var again *cluster.Result
		if again, out.err = o.once(seed, memory); out.err == nil {
			out.Second = &again.Digest
		}
	}
	return out
}

func (o *Options) once(seed uint64, memory *cluster.Arena) (*cluster.Result, error) {
	plan, err := o.Plan(seed)
	if err != nil {
		return nil, err
	}
	var cfg cluster.Config
	if o.Config != nil {
		cfg = o.Config()
	}
	cfg.Plan, cfg.Seed, cfg.Arena = plan, seed, memory
	if o.Chooser != nil {
		cfg.Chooser = o.Chooser(seed)
	}
	return cluster.Run(cfg)
}
