package machine

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/internal/sample"
)

// world answers a node at random and keeps track of what is due. It checks that the node keeps its promises to the
// driver.
type world struct {
	t       *rapid.T
	node    *Node
	nowMs   int64
	calls   []*ProviderCall
	timers  []TimerID
	jobs    []JobID
	lastIDs [3]uint64
	tokens  int
	held    map[string]bool // tokens handed out and neither acknowledged nor abandoned yet
	stopped int
}

func (w *world) step(in Input) {
	before := w.node.clone()
	again := before.clone()
	out := w.node.Step(in)
	if text := renderEffects(again.Step(in)); text != renderEffects(out) || !reflect.DeepEqual(again, w.node) {
		w.t.Fatalf("%#v: two steps from one state differ", in)
	}
	if w.stopped > 0 && len(out) > 0 {
		w.t.Fatalf("after Stopped the node wants %s", renderEffects(out))
	}
	for _, c := range out {
		switch c := c.(type) {
		case *ProviderCall:
			w.fresh(0, uint64(c.ID))
			w.calls = append(w.calls, c)
			w.onRequest(c)
		case *SetTimer:
			w.fresh(1, uint64(c.Timer))
			if c.After <= 0 {
				w.t.Fatalf("timer %d is due at once", c.Timer)
			}
			w.timers = append(w.timers, c.Timer)
		case *CancelTimer:
			w.timers = without(w.t, w.timers, c.Timer)
		case *RunTurn:
			w.fresh(2, uint64(c.Job))
			w.jobs = append(w.jobs, c.Job)
		case *RunActivity:
			w.fresh(2, uint64(c.Job))
			w.jobs = append(w.jobs, c.Job)
		case *CancelJob:
			w.jobs = without(w.t, w.jobs, c.Job)
		case *Stopped:
			w.stopped++
		}
	}
}

func (w *world) fresh(kind int, id uint64) {
	w.lastIDs[kind]++
	if id != w.lastIDs[kind] {
		w.t.Fatalf("id %d was given out, want %d", id, w.lastIDs[kind])
	}
}

// onRequest checks that the node only releases work that it holds.
func (w *world) onRequest(c *ProviderCall) {
	switch c.Request.(type) {
	case call.FetchOrchestrationItem, call.FetchWorkItem:
		if c.Deadline != 0 {
			w.t.Fatal("a fetch has a deadline")
		}
		return
	}
	if token, has := tokenOf(c); c.Deadline == 0 || has && !w.held[token] {
		w.t.Fatalf("call %d has no deadline, or names %q, which is not held", c.ID, token)
	}
}

// tokenOf returns the token that a call names, if calls of its kind do.
func tokenOf(c *ProviderCall) (string, bool) {
	field := reflect.ValueOf(c.Request).FieldByName("LockToken")
	if !field.IsValid() {
		return "", false
	}
	return field.String(), true
}

func without[T comparable](t *rapid.T, list []T, gone T) []T {
	for i, have := range list {
		if have == gone {
			return append(append([]T(nil), list[:i]...), list[i+1:]...)
		}
	}
	t.Fatalf("%v is taken back and was not due", gone)
	return nil
}

// answer answers a call at random. At most half of the answers are errors.
func (w *world) answer(batches, works []string) {
	i := rapid.IntRange(0, len(w.calls)-1).Draw(w.t, "call")
	c := w.calls[i]
	w.calls = append(append([]*ProviderCall(nil), w.calls[:i]...), w.calls[i+1:]...)
	in := &Answer{NowMs: w.nowMs, Call: c.ID}
	count := rapid.Uint32Range(1, 12).Draw(w.t, "count")
	switch rapid.IntRange(0, 5).Draw(w.t, "answer") {
	case 0:
		in.Err = engine.Retryablef("call", "busy")
	case 1:
		in.Err = engine.Permanentf("call", "no")
	default:
		switch c.Request.(type) {
		case call.FetchOrchestrationItem, call.FetchWorkItem:
			if rapid.Bool().Draw(w.t, "nothing") {
				break
			}
			w.tokens++
			token := fmt.Sprint("t", w.tokens)
			w.held[token] = true
			if c.Slot.Kind == SlotWorker {
				item, _ := workFixture(rapid.SampledFrom(works).Draw(w.t, "work"))
				in.Work = &engine.FetchedWork{Item: item, LockToken: token, AttemptCount: count}
			} else {
				item := batchFixture(nil, rapid.SampledFrom(batches).Draw(w.t, "batch"))
				in.Orchestration = &engine.FetchedOrchestration{Item: item, LockToken: token, AttemptCount: count}
			}
		case call.AckOrchestrationItem, call.AckWorkItem:
			w.release(c)
		}
	}
	switch c.Request.(type) {
	case call.AbandonOrchestrationItem, call.AbandonWorkItem:
		w.release(c) // the answer to this call does not matter
	}
	w.step(in)
}

func (w *world) release(c *ProviderCall) {
	token, _ := tokenOf(c)
	delete(w.held, token)
}

// act performs one of the actions that are due.
func (w *world) act(batches, works []string) {
	w.nowMs += rapid.Int64Range(0, 9000).Draw(w.t, "wait")
	what := rapid.IntRange(0, len(w.calls)+len(w.timers)+len(w.jobs)-1).Draw(w.t, "due")
	switch {
	case what < len(w.calls):
		w.answer(batches, works)
	case what < len(w.calls)+len(w.timers):
		timer := w.timers[what-len(w.calls)]
		w.timers = without(w.t, w.timers, timer)
		w.step(&Wake{NowMs: w.nowMs, Timer: timer})
	default:
		job := w.jobs[what-len(w.calls)-len(w.timers)]
		w.jobs = without(w.t, w.jobs, job)
		w.step(&Finished{NowMs: w.nowMs, Job: job})
	}
}

// TestAnyWorld checks that whatever the answers, the node keeps its promises, drains completely, and releases all the
// work that it was given.
func TestAnyWorld(t *testing.T) { rapid.Check(t, func(t *rapid.T) { anyWorld(t, nil) }) }

// TestAnyWorldWithBugs does the same with planted bugs, which break only the rules named in their properties.
func TestAnyWorldWithBugs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var on []string
		for _, id := range PlantedBugs {
			if rapid.IntRange(0, 3).Draw(t, id) == 0 {
				on = append(on, id)
			}
		}
		anyWorld(t, on)
	})
}

func anyWorld(t *rapid.T, on []string) {
	batches := strings.Fields(`new new-child new-latest new-unregistered orphan charged charged-untold charged-child
		charged-strange-start pinned-2.0.0 unregistered completed completed-untold completed-broken broken broken-child broken-new
		continued continued-untold continued-broken again again-child again-unregistered queued queued-new kept waiting crowded again-with-status`)
	works := []string{"charge", "decline", "crash", "exit", "mute", "unknown", "not-an-activity", "charge/s1", "charge/s2", "guid", "now", "key", "key-broken"}
	options := node.DefaultOptions()
	options.MaxSessionsPerRuntime = 1
	var build *engine.Build
	for _, b := range engine.ShippedBuilds() {
		if b.Name() == "1.5.0" {
			build = b
		}
	}
	n := sample.Must(New(Config{Name: "n", Build: build, Registry: testRegistry(nil), Options: options, Rules: RulesWith(on...)}))(t)
	w := &world{t: t, node: n, nowMs: 1000, held: map[string]bool{}}
	w.step(&Start{NowMs: w.nowMs})
	for range rapid.IntRange(0, 60).Draw(t, "steps") {
		if len(w.calls)+len(w.timers)+len(w.jobs) == 0 {
			break // every slot is stuck
		}
		w.act(batches, works)
	}
	if len(on) == 0 && n.holds() != len(w.held) {
		t.Fatalf("the node holds %d, the world gave %d more than it got back", n.holds(), len(w.held))
	}
	w.step(&Drain{NowMs: w.nowMs})
	for i := 0; w.stopped == 0; i++ {
		if i > 2000 || len(w.calls)+len(w.timers)+len(w.jobs) == 0 {
			t.Fatalf("the node does not stop: %d calls, %d timers, %d jobs are due", len(w.calls), len(w.timers), len(w.jobs))
		}
		w.act(batches, works)
	}
	for _, c := range w.calls { // only late answers to renewals can still be due
		w.step(&Answer{NowMs: w.nowMs, Call: c.ID, Err: engine.Retryablef("call", "late")})
	}
	if w.stopped != 1 || len(w.timers) != 0 || len(w.jobs) != 0 || n.holds() != 0 || len(on) == 0 && len(w.held) != 0 {
		t.Fatalf("stopped %d times, with %d timers, %d jobs, %d held", w.stopped, len(w.timers), len(w.jobs), len(w.held))
	}
}

// holds returns how many batches and activities the node currently holds.
func (n *Node) holds() int {
	count := 0
	for i := range n.slots {
		if n.slots[i].hold != nil {
			count++
		}
	}
	return count
}
