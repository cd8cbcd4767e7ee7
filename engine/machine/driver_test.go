package machine

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/internal/sample"
)

// TestScripts runs the scripts in testdata. A script consists of blocks of commands, one per line, followed by the
// effects that they led to. A file may use several nodes, one after another. The commands are documented in the switch
// in (*driver).command; a leading "+1s" lets that much time pass before a command. "go test ./engine/machine
// -rewrite" updates the effects.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		d := &driver{}
		datadriven.RunTest(t, path, func(t *testing.T, block *datadriven.TestData) string { return d.runBlock(t, block) })
	})
}

// driver drives a single node through text commands. Each step is performed three times, by the node and by two clones,
// which must agree. Meanwhile, everything returned by the first step is overwritten.
type driver struct {
	t     *testing.T
	node  *Node
	reg   *node.Registry
	nowMs int64
}

// runBlock runs a block's commands, which are its first line and the lines of its input.
func (d *driver) runBlock(t *testing.T, block *datadriven.TestData) string {
	d.t = t
	out := d.run(block.FullCmd())
	for line := range strings.Lines(block.Input) {
		out += d.run(line)
	}
	return out
}

func (d *driver) run(line string) string {
	words := strings.Fields(line)
	if wait, ok := strings.CutPrefix(words[0], "+"); ok {
		after := sample.Must(time.ParseDuration(wait))(d.t)
		d.nowMs += after.Milliseconds()
		words = words[1:]
	}
	return d.command(words[0], words[1:])
}

func (d *driver) command(verb string, args []string) string {
	d.t.Helper()
	id := func() uint64 { return sample.Must(strconv.ParseUint(args[0], 10, 64))(d.t) }
	switch verb {
	case "new", "node":
		// new [build=1.5.0] [bug=ID]... [routing=bounce|sweep] [OPTION=VALUE]...: a new node with one slot of each kind, unless told otherwise
		// node ...: the same, started: call 1 is the orchestration slot's fetch, call 2 the worker slot's
		d.newNode(args)
		if verb == "node" {
			d.step(&Start{NowMs: d.nowMs})
		}
		return ""
	case "deregister":
		// deregister NAME: removes the handlers and the activity of that name
		for _, v := range []engine.Version{engine.V(1, 0, 0), engine.V(2, 0, 0)} {
			d.reg.Deregister(args[0], v)
		}
		d.reg.DeregisterActivity(args[0])
		return ""
	case "start":
		return d.step(&Start{NowMs: d.nowMs})
	case "drain":
		return d.step(&Drain{NowMs: d.nowMs})
	case "ok", "nothing":
		// ok CALL, nothing CALL: answers the call without an error and without work
		return d.step(&Answer{NowMs: d.nowMs, Call: CallID(id())})
	case "value":
		// value CALL [TEXT]: answers a read of a key; without a text, the key does not exist
		in := &Answer{NowMs: d.nowMs, Call: CallID(id())}
		if len(args) > 1 {
			in.Value = &args[1]
		}
		return d.step(in)
	case "busy":
		// busy CALL: answers with a retryable error
		return d.step(&Answer{NowMs: d.nowMs, Call: CallID(id()), Err: engine.Retryablef("call", "busy")})
	case "refuse":
		// refuse CALL: answers with a permanent error
		return d.step(&Answer{NowMs: d.nowMs, Call: CallID(id()), Err: engine.Permanentf("call", "Invalid lock token")})
	case "give":
		// give CALL ITEM [COUNT]: answers a fetch with the named batch or activity (see fixtures), delivered for the
		// COUNT-th time
		in := &Answer{NowMs: d.nowMs, Call: CallID(id())}
		count := uint64(1)
		if len(args) > 2 {
			count = sample.Must(strconv.ParseUint(args[2], 10, 32))(d.t)
		}
		if work, ok := workFixture(args[1]); ok {
			in.Work = &engine.FetchedWork{Item: work, LockToken: "w", AttemptCount: uint32(count)}
		} else {
			in.Orchestration = &engine.FetchedOrchestration{Item: batchFixture(d.t, args[1]), LockToken: "t", AttemptCount: uint32(count)}
		}
		return d.step(in)
	case "wake":
		return d.step(&Wake{NowMs: d.nowMs, Timer: TimerID(id())})
	case "finish":
		// finish JOB [PANIC...]
		return d.step(&Finished{NowMs: d.nowMs, Job: JobID(id()), Panic: strings.Join(args[1:], " ")})
	case "counters":
		// counters: prints the counters that are not 0
		var out strings.Builder
		for _, c := range d.node.Counters().List() {
			if c.Value != 0 {
				fmt.Fprintf(&out, "%s %d\n", c.Name, c.Value)
			}
		}
		return out.String()
	}
	d.t.Fatalf("unknown command %q", verb)
	return ""
}

// routings maps the names used in scripts to routings.
var routings = map[string]Routing{
	"bounce": {Bounces: true},
	"sweep":  {SweepEvery: 5 * time.Second, SweepAfter: 10 * time.Second},
	"stall":  {Stalls: true},
}

func (d *driver) newNode(args []string) {
	options := node.DefaultOptions()
	options.OrchestrationConcurrency, options.WorkerConcurrency = 1, 1
	build := buildNamed(d.t, "1.5.0")
	var on []string
	var routing Routing
	for _, a := range args {
		name, value, _ := strings.Cut(a, "=")
		switch name {
		case "build":
			build = buildNamed(d.t, value)
		case "contract":
			build = sample.Must(engine.ContractOf(value))(d.t).Build(build)
		case "routing":
			routing = routings[value]
		case "bug":
			on = append(on, value)
		default:
			sample.OK(d.t, options.Set(name, value))
		}
	}
	d.reg = testRegistry(d.t)
	n := sample.Must(New(Config{Name: "n1", Build: build, Registry: d.reg, Options: options, Rules: RulesWith(on...), Routing: routing}))(d.t)
	d.node, d.nowMs = n, 1_000_000
}

func (d *driver) step(in Input) string {
	d.t.Helper()
	first, second, before := d.node.clone(), d.node.clone(), d.node.clone()
	out := first.Step(in)
	text := renderEffects(out)
	if !reflect.DeepEqual(second, before) {
		d.t.Fatalf("%T: a step changed another copy of the node", in)
	}
	scribble(out)
	again := second.Step(in)
	if got := renderEffects(again); got != text {
		d.t.Fatalf("%T: two steps from one state differ:\n%s\n%s", in, text, got)
	}
	if !reflect.DeepEqual(first, second) {
		d.t.Fatalf("%T: two steps from one state end in different states, or the effects share with the node", in)
	}
	d.node.Step(in)
	return text
}

// scribble overwrites the slices returned by a step.
func scribble(effects []Effect) {
	for i, c := range effects {
		if p, ok := c.(*ProviderCall); ok {
			if a, ok := p.Request.(call.AckOrchestrationItem); ok {
				clear(a.HistoryDelta)
				clear(a.WorkerItems)
				clear(a.OrchestratorItems)
				clear(a.CancelledActivities)
			}
		}
		effects[i] = nil
	}
}

func buildNamed(t testing.TB, name string) *engine.Build {
	for _, b := range engine.ShippedBuilds() {
		if b.Name() == name {
			return b
		}
	}
	t.Fatalf("no build %s", name)
	return nil
}
