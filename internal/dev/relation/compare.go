package relation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// Run is the run to compare with its twins.
type Run struct {
	Plan *plan.Plan
	Seed uint64
	// Config returns a run's configuration, except for its plan, seed and chooser. Its monitor decides when recovery
	// ends.
	Config func() cluster.Config
}

// Comparison is the outcome of comparing a run with its twin.
type Comparison struct {
	// Skipped says why the plan has no twin under this relation. It is empty if the runs were compared.
	Skipped string
	// Instances counts the instances compared, including children.
	Instances int
	// Difference is the first difference, or nil if the runs agree.
	Difference *Difference
}

// Difference is the first difference between an instance and its counterpart in the twin.
type Difference struct {
	Instance string
	// What locates the difference, such as "execution 1, event 4". Was is the value in the run, and Is the value in the
	// twin. "nothing" stands for a missing value.
	What, Was, Is string
}

// Compare executes a run and its twin and compares them. It returns an error if either run cannot be executed.
func (r Relation) Compare(run Run) (Comparison, error) {
	t, why := r.change(run.Plan)
	if why != "" {
		return Comparison{Skipped: why}, nil
	}
	was, err := run.ends(run.Plan, sim.Epoch, t.ordinal, strings.NewReplacer())
	if err != nil {
		return Comparison{}, err
	}
	start := t.start
	if start == 0 {
		start = sim.Epoch
	}
	is, err := run.ends(t.plan, start, t.ordinal, t.back())
	if err != nil {
		return Comparison{}, fmt.Errorf("the twin: %w", err)
	}
	delete(is.instances, t.added)
	out := Comparison{Instances: len(was.instances)}
	for _, name := range slices.Sorted(maps.Keys(both(was.instances, is.instances))) {
		a, b := was.instances[name], is.instances[name]
		if was.ended != is.ended && a.running && b.running {
			n := min(len(a.history), len(b.history))
			a, b = end{history: a.history[:n]}, end{history: b.history[:n]}
		}
		if d := difference(append(a.history, a.state...), append(b.history, b.state...)); d != nil {
			d.Instance = name
			out.Difference = d
			return out, nil
		}
	}
	return out, nil
}

// both returns the union of the keys of a and b.
func both(a, b map[string]end) map[string]end {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// ends holds the final states of a run's instances. It also holds the time at which the run ended, in milliseconds
// since its start.
type ends struct {
	ended     int64
	instances map[string]end
}

// end is an instance's final state: its status, and its recorded events in order. An instance that is still running has
// progressed further in the run that ended later.
type end struct {
	running        bool
	history, state []fact
}

type fact struct{ what, value string }

// difference returns the first difference between lists was and is, or nil if they are equal.
func difference(was, is []fact) *Difference {
	for i := range max(len(was), len(is)) {
		a, b := fact{value: nothing}, fact{value: nothing}
		if i < len(was) {
			a = was[i]
		}
		if i < len(is) {
			b = is[i]
		}
		if a == b {
			continue
		}
		switch what := cmp.Or(a.what, b.what); {
		case a.what != b.what && a.what != "" && b.what != "" && slices.Contains(is, a): // the twin has a fact that the run lacks
			return &Difference{What: b.what, Was: nothing, Is: b.value}
		case a.what != b.what && a.what != "" && b.what != "":
			return &Difference{What: a.what, Was: a.value, Is: nothing}
		default:
			return &Difference{What: what, Was: a.value, Is: b.value}
		}
	}
	return nil
}

const nothing = "nothing"

// ends executes p and returns its instances' final states.
func (r *Run) ends(p *plan.Plan, start sim.Time, ordinal bool, back *strings.Replacer) (*ends, error) {
	cfg := cluster.Config{}
	if r.Config != nil {
		cfg = r.Config()
	}
	cfg.Plan, cfg.Seed, cfg.Start = p, r.Seed, start
	if ordinal {
		cfg.Chooser = &numbered{state: r.Seed}
	}
	var shot *memprovider.Snapshot
	inner := cfg.Monitor
	cfg.Monitor = func(w *cluster.World) cluster.Monitor {
		l := &last{w: w, shot: &shot}
		if inner != nil {
			l.Monitor = inner(w)
		}
		return l
	}
	result, err := cluster.Run(cfg)
	if err != nil {
		return nil, err
	}
	all := &ends{ended: result.Virtual, instances: map[string]end{}}
	for i := range shot.Instances {
		in := &shot.Instances[i]
		all.instances[back.Replace(in.Name)] = endOf(in, func(text string) string {
			text = rows.ReplaceAllString(sinceStart(back.Replace(text), start), "${1}N$2")
			if ordinal { // a worker derives ids from node names
				text = uuids.ReplaceAllString(text, "UUID")
			}
			return text
		})
	}
	return all, nil
}

// last is a monitor that takes a snapshot of the store at the end of the run.
type last struct {
	cluster.Monitor
	w    *cluster.World
	shot **memprovider.Snapshot
}

// WatchHandle implements cluster.HandleWatcher by forwarding to the monitor if it can.
func (l *last) WatchHandle(p engine.Provider, codec engine.Codec) engine.Provider {
	return cluster.WatchHandle(l.Monitor, p, codec)
}

func (l *last) Finish() {
	l.Monitor.Finish()
	*l.shot = l.w.Store().Snapshot()
}

// endOf returns the final state of instance in. same replaces whatever may differ between the two runs with a common
// form.
func endOf(in *memprovider.SnapshotInstance, same func(string) string) end {
	e := end{state: []fact{
		{"orchestration", in.Orchestration + "@" + in.Version}, {"current execution", strconv.FormatUint(in.Current, 10)},
		{"parent", same(quoted(in.Parent.Instance))}, {"custom status", text(in.CustomStatus, same)},
	}}
	for _, table := range [][]memprovider.SnapshotKV{in.KVStore, in.KVDelta} {
		for _, kv := range table {
			e.state = append(e.state, fact{"key " + kv.Key, text(kv.Value, same) + " set at " + same(strconv.FormatUint(kv.UpdatedMs, 10))})
		}
	}
	for _, ex := range in.Executions {
		at := fmt.Sprintf("execution %d, ", ex.ID)
		e.history = append(e.history, fact{at + "pin", pin(ex.Pin)})
		for _, event := range ex.Events {
			e.history = append(e.history, fact{fmt.Sprintf("%sevent %d", at, event.ID), same(string(event.Data))})
		}
		e.state = append(e.state, fact{at + "status", string(ex.Status)}, fact{at + "output", same(quoted(ex.Output))})
		e.running = ex.ID == in.Current && !ex.Status.Terminal() || e.running
	}
	return e
}

func text(s *string, same func(string) string) string {
	if s == nil {
		return nothing
	}
	return same(quoted(*s))
}

func pin(v *engine.Version) string {
	if v == nil {
		return nothing
	}
	return v.String()
}

// times matches numbers that may be times, either in milliseconds, as in the contract, or in microseconds.
var times = regexp.MustCompile(`[0-9]{13,}`)

// rows matches row numbers in a store's messages. They differ between the runs, because a store numbers its rows across
// all instances.
var rows = regexp.MustCompile(`\b(message )[0-9]+( of )`)

var uuids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// sinceStart replaces each time in text with the time since start.
func sinceStart(text string, start sim.Time) string {
	return times.ReplaceAllStringFunc(text, func(number string) string {
		n, err := json.Number(number).Int64()
		if after := n - start.Millis(); err == nil && after >= 0 && after < longest {
			return fmt.Sprintf("start+%d", after)
		}
		return number
	})
}

// longest is five years in milliseconds. A number that differs from the start time by more than that is not a time in
// the run.
const longest = 5 * 365 * 24 * 60 * 60 * 1000
