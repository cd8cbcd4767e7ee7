package stray

import (
	_ "embed" // for stray-messages.txt
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/dev/selfcheck"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/workload"
)

//go:embed stray-messages.txt
var text []byte

// The orchestration of the histories.
const (
	name    = "Stray"
	version = "1.0.0"
)

// Scenario returns the scenario, without the contents of its store.
func Scenario() *scenario.Scenario {
	s, err := scenario.Parse("stray-messages.txt", text)
	if err != nil {
		panic(err) // a test parses it
	}
	return s
}

// Expand returns the plan of a seed. In every other seed the contract of 0.1.32 holds, where a drop discards.
func Expand(seed uint64, over scenario.Overrides) (*plan.Plan, error) {
	if over.Contract == "" && seed%2 == 0 {
		over.Contract = "0.1.32"
	}
	p, err := Scenario().Expand(seed, over)
	if err != nil {
		return nil, err
	}
	p.Contents = &plan.Contents{}
	histories := all()
	for i := range histories {
		id := fmt.Sprintf("stray-%d", i+1)
		stored, err := histories[i].preloaded(id, i+1)
		if err != nil {
			return nil, err
		}
		p.Contents.Instances = append(p.Contents.Instances, stored)
		p.Instances = append(p.Instances, plan.Instance{ID: id, Orchestration: name, Existing: true, Expect: plan.EndAny})
		sent := []engine.WorkItem{engine.ExternalRaisedItem{Instance: id, Name: "go", Data: "kick"}}
		if histories[i].sent != nil {
			sent = histories[i].sent(id)
		}
		for _, item := range sent {
			p.Contents.Messages = append(p.Contents.Messages, plan.Message{Item: item, Delay: time.Second + time.Duration(i)*170*time.Millisecond})
		}
	}
	return p, nil
}

// preloaded returns the n-th history as a store has it.
func (h *history) preloaded(id string, n int) (in memprovider.PreloadedInstance, err error) {
	pin := engine.V(1, 5, 0)
	if h.pin != "" {
		pin = engine.MustParseVersion(h.pin)
	}
	execution := memprovider.PreloadedExecution{ID: engine.InitialExecutionID, Pin: &pin, Status: engine.StatusRunning}
	builds := engine.ShippedBuilds()
	codec := builds[len(builds)-1].Codec
	for i, e := range append([]stored{{h.start(n), 0}, {both[0], 0}, {both[1], 2}}, h.was...) {
		event := engine.Event{EventID: uint64(i + 1), SourceEventID: e.source, InstanceID: id, ExecutionID: execution.ID, DuroxideVersion: pin.String(), Data: e.data}
		data, err := codec.AppendEvent(nil, event)
		if err != nil {
			return in, fmt.Errorf("%s: %w", id, err)
		}
		execution.Events = append(execution.Events, memprovider.PreloadedEvent{ID: event.EventID, Kind: event.Kind(), Data: data})
	}
	if h.garbled != nil {
		execution.Events = append(execution.Events, memprovider.PreloadedEvent{ID: uint64(len(execution.Events) + 1), Kind: eventdata.KindActivityCompleted, Data: []byte(*h.garbled)})
	}
	in = memprovider.PreloadedInstance{Instance: id, Orchestration: name, Version: version, Current: execution.ID, Executions: []memprovider.PreloadedExecution{execution}}
	if h.linked {
		in.Parent = &parent
	}
	in.KV = []engine.KVEntry{{Key: "kept", Value: id, LastUpdatedAtMs: 99}}
	return in, nil
}

// Options returns what is judged: all but S11 and L02, since in some histories code and history disagree, and their
// executions fail. What a turn does then is S24's.
func Options() properties.Options {
	return properties.Options{SecondJudge: 1, Without: []string{"S11", "L02"}, Expectations: Scenario().Expect}
}

// Run returns what a run of the scenario has: its handlers are those that durosim ships, and Stray.
func Run() durosim.Run {
	return durosim.Run{Handlers: func(r *node.Registry, b *engine.Build) error {
		return errors.Join(workload.Handlers(r, b), r.Register(name, engine.MustParseVersion(version), goesOn))
	}}
}

// Campaign returns a campaign of the scenario with the self-checks. It lacks the seeds.
func Campaign(over scenario.Overrides, options properties.Options) campaign.Options {
	return campaign.Options{
		Plan: func(seed uint64) (*plan.Plan, error) { return Expand(seed, over) },
		Config: func() (cfg cluster.Config) {
			run := Run()
			run.Monitor = selfcheck.Watch
			run.Configure(&cfg, options)
			return cfg
		},
	}
}

// goesOn is the code of every history; its input says of which.
func goesOn(ctx *orch.Context, input string) (string, error) {
	if _, err := ctx.ScheduleActivity("Work", "both").Await(); err != nil {
		return "", err
	}
	if n, err := strconv.Atoi(input); err == nil && n >= 1 && n <= len(all()) {
		if err := all()[n-1].is(ctx); err == errOver {
			return "over", nil
		} else if err != nil {
			return "", err
		}
	}
	return ctx.ScheduleWait("go").Await()
}
