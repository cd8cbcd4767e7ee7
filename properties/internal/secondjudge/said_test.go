package secondjudge_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/conformance"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/secondjudge"
	"github.com/durosim/durosim/sim/cluster"
)

// datedMs is a time with as many digits as the times of real runs.
const datedMs = 1_700_000_000_000

type datedWorld struct{ *rig.FakeWorld }

func (datedWorld) StartMs() int64 { return datedMs }

// performs is how a store performs a call; nil is how it should. The twin is a correct store that is asked for the same.
type performs func(ctx context.Context, p, twin engine.Provider, c call.Call) call.Answer

// alone runs conformance cases over stores that a second judge watches, without a rule beside it, and returns all that it
// says.
func alone(rules *memprovider.Rules, otherwise performs, cases ...string) string {
	var said []string
	conformance.Ask(conformance.Factory{New: func() (*conformance.Store, error) {
		w := datedWorld{&rig.FakeWorld{Now: datedMs, AllBuilds: engine.ShippedBuilds(), Infos: []cluster.NodeInfo{{Number: 1, Name: "A"}, {Number: 2, Name: "B"}}}}
		m := check.New(w, func(string) bool { return true })
		judge, codec := secondjudge.New(m.Run), w.AllBuilds[4].Codec
		m.Add(judge)
		store, other := memprovider.New(memprovider.Options{Rules: rules, StartMs: datedMs, Sink: m}), memprovider.New(memprovider.Options{StartMs: datedMs})
		own, twin := store.Handle(codec, observe.Caller{Node: 2, Incarnation: 1}), other.Handle(codec, observe.Caller{})
		p := own
		if otherwise != nil {
			p = call.Through(p.Name(), p.Version(), true, func(ctx context.Context, c call.Call) call.Answer { return otherwise(ctx, own, twin, c) })
		}
		return &conformance.Store{
			Provider: judge.Watch(p, codec),
			NowMs:    store.Now,
			Advance: func(d time.Duration) {
				w.Now += d.Milliseconds()
				store.SetNow(w.Now)
				other.SetNow(w.Now)
			},
			CorruptHistory: func(instance string, execution, event uint64) error {
				return store.Damage(instance, execution, event, []byte("{"))
			},
			Sequential: true,
			Close: func() {
				m.Finish()
				for _, v := range m.Violations() {
					said = append(said, fmt.Sprintf("%s of %s, %q, %q: %s", v.Property, v.Node, v.Instance, v.WorkItem, v.Message))
				}
			},
		}, nil
	}}, cases...)
	return strings.Join(said, "\n")
}

// TestCasesAreAllowed checks that nothing is said of a correct store.
func TestCasesAreAllowed(t *testing.T) {
	if said := alone(nil, nil); said != "" {
		t.Error(said)
	}
}

// more are calls that a store makes of itself, after one that it was asked for.
var more = map[string]func(ctx context.Context, p engine.Provider){ // only used for lookups
	"deletes": func(ctx context.Context, p engine.Provider) { _, _ = p.Admin().DeleteInstance(ctx, "A", true) },
	"prunes": func(ctx context.Context, p engine.Provider) {
		_, _ = p.Admin().PruneExecutions(ctx, "A", engine.PruneOptions{})
	},
	"sends": func(ctx context.Context, p engine.Provider) {
		_ = p.EnqueueForOrchestrator(ctx, engine.ExternalRaisedItem{Instance: "A", Name: "1600000000000", Data: "1800000000000"}, 0)
	},
	"works": func(ctx context.Context, p engine.Provider) {
		if got, err := p.FetchOrchestrationItem(ctx, time.Second, 0, nil); err == nil && got != nil {
			_ = p.AckOrchestrationItem(ctx, engine.OrchestrationAck{LockToken: got.LockToken, ExecutionID: 1, HistoryDelta: []engine.Event{
				{EventID: 77, InstanceID: "A", ExecutionID: 1, Data: eventdata.TimerFired{}},
			}})
		}
	},
}

// TestWhatIsSaid prints all that is said of planted bugs, each in the case that shows it, and of a store that does not do
// what its answer to the nth call of a kind says, or does more.
func TestWhatIsSaid(t *testing.T) {
	brief := rig.Brief{}
	datadriven.RunTest(t, "testdata/said.txt", func(t *testing.T, d *datadriven.TestData) string {
		cases, add := strings.Fields(d.Input), more[d.Cmd]
		if len(d.CmdArgs) == 0 {
			tables := sample.Must(faults.NewTables(faults.BugID(d.Cmd)))(t)
			return brief.Of(alone(tables.Provider, nil, cases...))
		}
		n := sample.Must(strconv.Atoi(d.CmdArgs[1].Key))(t)
		return brief.Of(alone(nil, func(ctx context.Context, p, twin engine.Provider, c call.Call) call.Answer {
			a := call.Pass(ctx, twin, c)
			if call.Method(c) == d.CmdArgs[0].Key {
				n--
			}
			switch {
			case n != 0 || call.Method(c) != d.CmdArgs[0].Key:
				a = call.Pass(ctx, p, c)
			case add != nil:
				a = call.Pass(ctx, p, c)
				add(ctx, p)
			default:
				_, _ = p.Read(ctx, "nobody")
			}
			return a
		}, cases...))
	})
}
