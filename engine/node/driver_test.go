package node

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/bugs"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the expectations in testdata")

// TestScripts runs the scripts in testdata: blocks of commands, a line "----", and the calls that they led to. A file
// may hold several nodes, one after the other. The commands are documented in the switch of (*driver).command; "+1s" in
// front of one lets that time pass first.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := runScript(t, string(data))
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(data) {
				t.Errorf("%s: the calls differ; got\n%s", file, firstDifference(string(data), got))
			}
		})
	}
}

// runScript returns the script with the expectations that hold.
func runScript(t *testing.T, script string) string {
	t.Helper()
	d := &driver{t: t}
	var out strings.Builder
	var commands []string
	expecting := false
	for _, line := range strings.Split(strings.TrimSuffix(script, "\n"), "\n") {
		switch {
		case line == "----":
			out.WriteString(line + "\n")
			for _, c := range commands {
				out.WriteString(d.run(c))
			}
			commands, expecting = nil, true
		case line == "":
			out.WriteString("\n")
			expecting = false
		case expecting:
		default:
			out.WriteString(line + "\n")
			if !strings.HasPrefix(line, "#") {
				commands = append(commands, line)
			}
		}
	}
	if len(commands) > 0 {
		t.Fatalf("the script ends with commands that nothing is expected of: %q", commands)
	}
	return out.String()
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range g {
		if i >= len(w) || w[i] != g[i] {
			return fmt.Sprintf("line %d:\n%s", i+1, strings.Join(g[i:min(i+12, len(g))], "\n"))
		}
	}
	return "less than expected"
}

// driver drives one node by text. Every step is made three times: by the node and by two clones that must agree, while
// what the first step gave out is scribbled over.
type driver struct {
	t     *testing.T
	node  *Node
	reg   *Registry
	nowMs int64
}

func (d *driver) run(line string) string {
	words := strings.Fields(line)
	if wait, ok := strings.CutPrefix(words[0], "+"); ok {
		after, err := time.ParseDuration(wait)
		if err != nil {
			d.t.Fatal(err)
		}
		d.nowMs += after.Milliseconds()
		words = words[1:]
	}
	return d.command(words[0], words[1:])
}

func (d *driver) command(verb string, args []string) string {
	d.t.Helper()
	id := func() uint64 {
		n, err := strconv.ParseUint(args[0], 10, 64)
		if err != nil {
			d.t.Fatal(err)
		}
		return n
	}
	switch verb {
	case "new", "node":
		// new [build=1.5.0] [bug=ID]... [OPTION=VALUE]...: a new node with one slot of each kind, unless told otherwise
		// node ...: the same, started: call 1 is the orchestration slot's fetch, call 2 the worker slot's
		d.newNode(args)
		if verb == "node" {
			d.step(Start{NowMs: d.nowMs})
		}
		return ""
	case "deregister":
		// deregister NAME: the handlers and the activity of that name are gone
		for _, v := range []engine.Version{engine.V(1, 0, 0), engine.V(2, 0, 0)} {
			d.reg.Deregister(args[0], v)
		}
		d.reg.DeregisterActivity(args[0])
		return ""
	case "start":
		return d.step(Start{NowMs: d.nowMs})
	case "drain":
		return d.step(Drain{NowMs: d.nowMs})
	case "ok", "nothing":
		// ok CALL, nothing CALL: the call is answered without an error and without work
		return d.step(Answer{NowMs: d.nowMs, Call: CallID(id())})
	case "value":
		// value CALL [TEXT]: a key was read; without a text there is none
		in := Answer{NowMs: d.nowMs, Call: CallID(id())}
		if len(args) > 1 {
			in.Value = &args[1]
		}
		return d.step(in)
	case "busy":
		// busy CALL: a retryable error
		return d.step(Answer{NowMs: d.nowMs, Call: CallID(id()), Err: engine.Retryablef("call", "busy")})
	case "refuse":
		// refuse CALL: a permanent error
		return d.step(Answer{NowMs: d.nowMs, Call: CallID(id()), Err: engine.Permanentf("call", "Invalid lock token")})
	case "give":
		// give CALL ITEM [COUNT]: the fetch finds the batch or activity of that name, see fixtures, at that delivery
		in := Answer{NowMs: d.nowMs, Call: CallID(id())}
		count := uint64(1)
		if len(args) > 2 {
			var err error
			if count, err = strconv.ParseUint(args[2], 10, 32); err != nil {
				d.t.Fatal(err)
			}
		}
		if work, ok := workFixture(args[1]); ok {
			in.Work = &engine.FetchedWork{Item: work, LockToken: "w", AttemptCount: uint32(count)}
		} else {
			in.Orchestration = &engine.FetchedOrchestration{Item: batchFixture(d.t, args[1]), LockToken: "t", AttemptCount: uint32(count)}
		}
		return d.step(in)
	case "wake":
		return d.step(Wake{NowMs: d.nowMs, Timer: TimerID(id())})
	case "finish":
		// finish JOB [PANIC...]
		return d.step(Finished{NowMs: d.nowMs, Job: JobID(id()), Panic: strings.Join(args[1:], " ")})
	case "counters":
		// counters: those that are not 0
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

func (d *driver) newNode(args []string) {
	options := DefaultOptions()
	options.OrchestrationConcurrency, options.WorkerConcurrency = 1, 1
	build := buildNamed(d.t, "1.5.0")
	var on []bugs.ID
	for _, a := range args {
		name, value, _ := strings.Cut(a, "=")
		switch name {
		case "build":
			build = buildNamed(d.t, value)
		case "bug":
			on = append(on, bugs.ID(value))
		default:
			if err := options.Set(name, value); err != nil {
				d.t.Fatal(err)
			}
		}
	}
	d.reg = testRegistry(d.t)
	n, err := New(Config{Name: "n1", Build: build, Registry: d.reg, Options: options, Rules: RulesWith(bugs.New(on...))})
	if err != nil {
		d.t.Fatal(err)
	}
	d.node, d.nowMs = n, 1_000_000
}

func (d *driver) step(in Input) string {
	d.t.Helper()
	first, second, before := d.node.Clone(), d.node.Clone(), d.node.Clone()
	out := first.Step(in)
	text := renderCalls(out)
	if !reflect.DeepEqual(second, before) {
		d.t.Fatalf("%T: a step changed another copy of the node", in)
	}
	scribble(out)
	again := second.Step(in)
	if got := renderCalls(again); got != text {
		d.t.Fatalf("%T: two steps from one state differ:\n%s\n%s", in, text, got)
	}
	if !reflect.DeepEqual(first, second) {
		d.t.Fatalf("%T: two steps from one state end in different states, or the calls share with the node", in)
	}
	d.node.Step(in)
	return text
}

// scribble writes over the slices that a step gave out.
func scribble(calls []Call) {
	for i, c := range calls {
		if p, ok := c.(ProviderCall); ok {
			if a, ok := p.Request.(AckOrchestration); ok {
				clear(a.Ack.HistoryDelta)
				clear(a.Ack.WorkerItems)
				clear(a.Ack.OrchestratorItems)
				clear(a.Ack.CancelledActivities)
			}
		}
		calls[i] = nil
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
