package cluster

import (
	"fmt"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// probes make provider calls that no node makes.
type probes struct {
	*base
	list []*probeState
}

// probeState is an active probe. Probes are not nodes: as a caller, a probe has node number 0 and its own number as
// incarnation.
type probeState struct {
	plan     *plan.Probe
	key      sim.Key
	provider engine.Provider
	codec    engine.Codec
	filter   *engine.CapabilityFilter
	left     int
	held     []probeHeld // everything the probe has fetched and held for a while
}

// probeHeld is a turn or an activity fetched by a probe. try counts the probe's acts, starting at 1.
type probeHeld struct {
	turn *engine.FetchedOrchestration
	work *engine.FetchedWork
	try  uint32
}

func (h *probeHeld) token() string {
	if h.turn != nil {
		return h.turn.LockToken
	}
	return h.work.LockToken
}

var (
	labelHold = sim.NewLabel("hold")
	labelAct  = sim.NewLabel("act")
)

// probeEdge is the maximum time before or after a lock's expiry at which a probe uses the lock.
const probeEdge = 20 * time.Millisecond

func (pr *probes) begin(i int) time.Duration {
	p := &pr.plan.Probes[i]
	s := &probeState{plan: p, left: p.Count, key: pr.root.Name(labelProbe, p.Name)}
	if p.Filter != "" {
		filter, err := plan.ParseFilter(p.Filter)
		if err != nil {
			panic(fmt.Sprintf("cluster: probe %s: %v", p.Name, err)) // already rejected by Validate
		}
		s.filter = filter
	}
	s.codec = plan.FindBuild(pr.builds, p.Build).Codec
	s.provider = pr.storeHandle(s.codec, observe.Caller{Incarnation: uint32(i + 1)})
	pr.list = append(pr.list, s)
	pr.kernel.At(pr.start.Add(p.From), s.key, event{kind: evProbe, a: uint64(i)})
	last := p.From + time.Duration(max(p.Count-1, 0))*p.Every
	if len(p.Holds) > 0 {
		last += p.LockFor() + probeEdge
	}
	return last
}

// onProbe carries out the next act of a probe.
func (pr *probes) onProbe(i int) {
	s := pr.list[i]
	if s.left == 0 || pr.phase != PhaseFaults {
		return
	}
	s.left--
	pr.changed = true
	if s.plan.Look {
		pr.look(i)
	} else if s.plan.Sweep != "" {
		pr.sweep(s)
	} else if s.plan.Send != "" {
		// Here and below, a probe ignores the answer; monitors check it.
		_ = s.provider.EnqueueForOrchestrator(pr.ctx, pr.item(s.plan), s.plan.Delay)
	} else {
		h := probeHeld{try: uint32(s.plan.Count - s.left)}
		var err error
		if s.plan.Work {
			h.work, err = s.provider.FetchWorkItem(pr.ctx, s.plan.LockFor(), 0, nil, engine.TagFilter{})
		} else {
			h.turn, err = s.provider.FetchOrchestrationItem(pr.ctx, s.plan.LockFor(), 0, s.filter)
		}
		if err == nil && (h.turn != nil || h.work != nil) {
			pr.keep(i, h)
		}
	}
	pr.kernel.After(s.plan.Every, s.key, event{kind: evProbe, a: uint64(i)})
}

func (pr *probes) item(p *plan.Probe) engine.WorkItem {
	if p.Send == plan.SendMessage {
		return engine.QueueMessageItem{Instance: p.Instance, Name: p.Name}
	}
	i := slices.IndexFunc(pr.plan.Instances, func(in plan.Instance) bool { return in.ID == p.Instance })
	if i >= 0 {
		return startItem(&pr.plan.Instances[i])
	}
	panic(fmt.Sprintf("cluster: probe %s: no instance %s", p.Name, p.Instance)) // already rejected by Validate
}

// startItem returns the message with which a client starts the instance.
func startItem(p *plan.Instance) engine.StartItem {
	return engine.StartItem{Instance: p.ID, Orchestration: p.Orchestration, Input: p.Input, Version: p.Version, ExecutionID: engine.InitialExecutionID}
}

// tryKey returns the key for the draws of one of the probe's acts.
func (s *probeState) tryKey(try uint32) sim.Key { return s.key.Num(labelTry, uint64(try)) }

// keep makes a probe hold fetched work for a randomly drawn time.
func (pr *probes) keep(i int, h probeHeld) {
	s := pr.list[i]
	key, lock := s.tryKey(h.try).At(labelHold), s.plan.LockFor()
	hold := plan.HoldLeast
	if n := len(s.plan.Holds); n > 0 {
		hold = s.plan.Holds[pr.oneOf(key, n)]
	}
	lo, hi := time.Duration(0), time.Duration(0)
	switch hold {
	case plan.HoldLeast:
		pr.act(s, &h)
		return
	case plan.HoldTypical:
		lo, hi = lock/8, lock/2
	case plan.HoldBefore:
		lo, hi = lock-probeEdge, lock-time.Millisecond
	case plan.HoldAfter:
		lo, hi = lock, lock+probeEdge
	}
	s.held = append(s.held, h)
	pr.kernel.After(sim.Between(pr.chooser, key.At(labelAmount), lo, hi), key, event{kind: evProbeEnd, a: uint64(i), b: uint64(len(s.held) - 1)})
}

// oneOf draws one of n alternatives. If there is only one, nothing is drawn.
func (b *base) oneOf(key sim.Key, n int) int {
	if n == 1 {
		return 0
	}
	return int(b.chooser.Choose(key, uint64(n)))
}

// onProbeEnd acts on work that a probe has held long enough. After the fault phase, the probe lets the lock expire
// instead.
func (pr *probes) onProbeEnd(i, held int) {
	s := pr.list[i]
	h := s.held[held]
	s.held[held] = probeHeld{}
	if pr.phase != PhaseFaults {
		return
	}
	pr.changed = true
	pr.act(s, &h)
}

// act performs one of the plan's acts on the work a probe has fetched. If there are several acts, it draws one.
func (pr *probes) act(s *probeState, h *probeHeld) {
	act := plan.ActAbandon
	if n := len(s.plan.Does); n > 0 {
		act = s.plan.Does[pr.oneOf(s.tryKey(h.try).At(labelAct), n)]
	}
	token := h.token()
	switch act {
	case plan.ActAbandon:
		pr.abandon(s, h, token)
	case plan.ActRenew:
		pr.renew(s, h, token)
		pr.abandon(s, h, token)
	case plan.ActLeave:
	case plan.ActAck:
		pr.ack(s, h, token, act)
	case plan.ActTwice:
		pr.ack(s, h, token, act)
		pr.ack(s, h, token, act)
		pr.renew(s, h, token)
		pr.abandon(s, h, token)
	case plan.ActForge:
		const forged = "-forged"
		pr.ack(s, h, token+forged, act)
		pr.renew(s, h, token+forged)
		pr.abandon(s, h, token+forged)
		pr.abandon(s, h, token)
	case plan.ActRepin, plan.ActBehind:
		pr.ack(s, h, token, act)
	case plan.ActContradict:
		pr.contradict(s, h)
		pr.abandon(s, h, token)
	default:
		panic(fmt.Sprintf("cluster: probe %s: act %q", s.plan.Name, act)) // already rejected by Validate
	}
}

func (pr *probes) abandon(s *probeState, h *probeHeld, token string) {
	if h.turn != nil {
		_ = s.provider.AbandonOrchestrationItem(pr.ctx, token, s.plan.Delay, s.plan.IgnoreAttempt)
		return
	}
	_ = s.provider.AbandonWorkItem(pr.ctx, token, s.plan.Delay, s.plan.IgnoreAttempt)
}

func (pr *probes) renew(s *probeState, h *probeHeld, token string) {
	if h.turn != nil {
		_ = s.provider.RenewOrchestrationItemLock(pr.ctx, token, s.plan.LockFor())
		return
	}
	_ = s.provider.RenewWorkItemLock(pr.ctx, token, s.plan.LockFor())
}

// ack acknowledges the work that a probe holds and enqueues it again. An activity is enqueued after its ack, in the
// same instant.
func (pr *probes) ack(s *probeState, h *probeHeld, token string, act plan.Act) {
	if h.work != nil {
		if s.provider.AckWorkItem(pr.ctx, token, nil) == nil {
			_ = s.provider.EnqueueForWorker(pr.ctx, h.work.Item)
		}
		return
	}
	item := &h.turn.Item
	unknown := func(m engine.WorkItem) bool { // to the probe's codec
		_, err := s.codec.AppendWorkItem(nil, m)
		return err != nil
	}
	if len(item.History) == 0 || slices.ContainsFunc(item.Messages, unknown) {
		pr.abandon(s, h, token)
		return
	}
	ack := engine.OrchestrationAck{LockToken: token, ExecutionID: item.ExecutionID, OrchestratorItems: item.Messages}
	switch act {
	case plan.ActRepin:
		pin := *s.plan.Pin
		ack.Metadata.PinnedVersion = &pin
	case plan.ActBehind:
		ack.ExecutionID = max(ack.ExecutionID-1, engine.InitialExecutionID)
	}
	_ = s.provider.AckOrchestrationItem(pr.ctx, ack)
}

// contradict sends the opposite outcome for the last activity in a history that has completed or failed.
func (pr *probes) contradict(s *probeState, h *probeHeld) {
	item := &h.turn.Item
	for _, e := range slices.Backward(item.History) {
		var other engine.WorkItem
		switch e.Data.(type) {
		case eventdata.ActivityCompleted:
			other = engine.ActivityFailedItem{
				Instance: item.Instance, ExecutionID: item.ExecutionID, ID: e.SourceEventID,
				Details: engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppActivityFailed, Message: "contradicted by " + s.plan.Name}},
			}
		case eventdata.ActivityFailed:
			other = engine.ActivityCompletedItem{Instance: item.Instance, ExecutionID: item.ExecutionID, ID: e.SourceEventID}
		default:
			continue
		}
		_ = s.provider.EnqueueForOrchestrator(pr.ctx, other, s.plan.Delay)
		return
	}
}

// look makes a probe read the store through the management surface: the totals, the lists of instances, and each
// instance's description, children, history, statistics, keys and custom status. It only records the answers.
func (pr *probes) look(i int) {
	list := pr.read(i, call.ListInstances{})
	for _, status := range []engine.Status{engine.StatusRunning, engine.StatusCompleted, engine.StatusFailed, engine.StatusContinuedAsNew} {
		pr.read(i, call.ListInstancesByStatus{Status: status})
	}
	pr.read(i, call.GetSystemMetrics{})
	for _, id := range list.IDs {
		pr.read(i, call.GetInstanceInfo{Instance: id})
		pr.read(i, call.ListChildren{Instance: id})
		pr.read(i, call.GetCustomStatus{Instance: id})
		pr.read(i, call.ReadHistory{Instance: id})
		pr.read(i, call.GetInstanceStats{Instance: id})
		pr.read(i, call.GetKVAllValues{Instance: id})
	}
}

// read makes one call for such a probe and records the answer.
func (pr *probes) read(i int, request call.Call) call.Answer {
	a := call.Perform(pr.ctx, pr.list[i].provider, request)
	pr.record(&Record{Kind: record.Looked, Incarnation: uint32(i + 1), Request: request, Looked: &a, Err: a.Err, StoreCall: pr.storeCall})
	return a
}
