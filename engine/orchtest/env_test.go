package orchtest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/orchtest"
	"github.com/durosim/durosim/internal/sample"
)

// recorder records the reports of a test; Fatalf ends the test by a panic.
type recorder struct{ said []string }

type fatal struct{}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(fatal{})
}

// reports returns the reports while f runs.
func reports(f func(t orchtest.T)) (text string) {
	r := &recorder{}
	defer func() {
		text = strings.Join(r.said, "\n")
		if p := recover(); p != nil && p != (fatal{}) {
			panic(p)
		}
	}()
	f(r)
	return ""
}

// TestReports checks that each mistake of a test, or of a handler, is reported with its cause.
func TestReports(t *testing.T) {
	calls := 0
	for _, c := range []struct {
		name    string
		handler orch.Handler
		test    func(*orchtest.Env)
		want    string
	}{
		{"an activity without a mock", func(c *orch.Context, in string) (string, error) { return c.ScheduleActivity("Pay", in).Await() },
			func(e *orchtest.Env) { e.Activity("Play"); e.Run("5") },
			`the code calls the activity Pay with "5": mock it with Env.Activity; there are mocks of Play`},
		{"a child without a mock", func(c *orch.Context, in string) (string, error) {
			return c.ScheduleSubOrchestration("Ship", in).Await()
		},
			func(e *orchtest.Env) { e.Run("5") }, `the code starts the child Ship with "5": mock it with Env.Child; there are no mocks`},
		{"an event that never comes", func(c *orch.Context, _ string) (string, error) {
			orch.Join(c.ScheduleWait("go"), c.ScheduleWait2("go", "eu"), c.DequeueEvent("jobs"))
			return "", nil
		}, func(e *orchtest.Env) { e.Run("") }, "has not ended; it waits for the event go, the event go on eu, a message of jobs"},
		{"a failure", func(*orch.Context, string) (string, error) { return "", errors.New("no money") },
			func(e *orchtest.Env) { e.Run("") }, "the orchestration failed: no money"},
		{"a panic", func(*orch.Context, string) (string, error) { panic("no paper") },
			func(e *orchtest.Env) { e.Run("") }, "the orchestration failed: orchestration panicked: no paper, at orchtest_test.TestReports.func9 (env_test.go:"},
		{"a handler that is not deterministic", func(c *orch.Context, _ string) (string, error) {
			calls++
			return c.ScheduleActivity("Pay", fmt.Sprint(calls)).Await()
		}, func(e *orchtest.Env) { e.Activity("Pay"); e.Run("") }, "the handler is not deterministic: two runs of one turn differ"},
		{"a loop without end", func(c *orch.Context, _ string) (string, error) {
			for {
				c.ScheduleTimer(time.Hour).Await()
				c.ContinueAsNew("")
			}
		}, func(e *orchtest.Env) { e.Run("") }, "does the orchestration loop forever? Finish does not come to the end of one that is meant to: use Skip"},
		{"a loop of activities", func(c *orch.Context, _ string) (string, error) {
			for {
				c.ScheduleActivity("Poll", "").Await()
			}
		}, func(e *orchtest.Env) { e.Activity("Poll"); e.Run("") }, "1414 turns of Orchestration, whose execution 1 has 2828 events, and something is still due: does the orchestration loop forever? A loop must end"},
		{"a version without code", func(c *orch.Context, _ string) (string, error) { c.ContinueAsNewVersioned("2.0.0", ""); return "", nil },
			func(e *orchtest.Env) { e.Run("") }, "continues as version 2.0.0: give its code with Env.Version"},
		{"a message too early", refund, func(e *orchtest.Env) { e.Raise("go", "") }, "ExternalRaised before Start"},
		{"a panic of an activity", func(c *orch.Context, _ string) (string, error) { return c.ScheduleActivity("Pay", "").Await() },
			func(e *orchtest.Env) {
				e.Activity("Pay").Runs(func(node.ActivityContext, string) (string, error) { panic("boom") })
				e.Run("")
			}, "the orchestration failed: activity panicked: boom, at orchtest_test.TestReports.func"},
		{"a panic of a child", func(c *orch.Context, _ string) (string, error) { return c.ScheduleSubOrchestration("Ship", "").Await() },
			func(e *orchtest.Env) { e.Child("Ship").Does(func(string) (string, error) { panic("boom") }); e.Run("") }, "the orchestration failed: orchestration panicked: boom, at "},
		{"no function", refund, func(e *orchtest.Env) { e.Activity("PayBack").Does(nil) }, "Does(nil) of PayBack: expected a function"},
		{"an end before the beginning", refund, func(e *orchtest.Env) { e.Activity("PayBack").Takes(-1) }, "Takes(-1ns) of PayBack: "},
		{"time that goes back", refund, func(e *orchtest.Env) { e.Activity("PayBack"); e.Start(""); e.Skip(-time.Hour) }, "Skip(-1h0m0s): time does not go back"},
		{"an output too early", refund, func(e *orchtest.Env) { e.Output() }, "Output before Start: there is none"},
		{"a skip too early", refund, func(e *orchtest.Env) { e.Skip(1) }, "Skip before Start"},
		{"a name too late", refund, func(e *orchtest.Env) { e.Activity("PayBack"); e.Start(""); e.As("Refund", engine.V(1, 0, 0)) }, `As("Refund") after Start`},
		{"no version", refund, func(e *orchtest.Env) { e.Version("1", refund) }, `Version("1"): version "1": `},
		{"a second start", refund, func(e *orchtest.Env) { e.Activity("PayBack"); e.Start(""); e.Start("") }, "has already been started"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := reports(func(t orchtest.T) { c.test(orchtest.New(t, c.handler)) })
			if !strings.Contains(got, c.want) {
				t.Errorf("the test reports %q; want %q in it", got, c.want)
			}
		})
	}
}

// TestChildIDs checks that a start with the id of an instance that exists fails, as in a cluster.
func TestChildIDs(t *testing.T) {
	for ids, want := range map[string]string{
		",again,":           "instance-1::sub::2",
		"c-1,c-1":           "c-1",
		"c-1,again,c-2,c-1": "c-1",
		orchtest.Instance:   orchtest.Instance,
		"detached,d-1":      "d-1",
	} {
		env := orchtest.New(t, func(ctx *orch.Context, in string) (string, error) {
			for id, rest, more := strings.Cut(in, ","); ; id, rest, more = strings.Cut(rest, ",") {
				switch id {
				case "again":
					ctx.ContinueAsNew(rest)
				case "detached":
					ctx.StartOrchestration("D", "d-1", "")
				default:
					if _, err := ctx.ScheduleSubOrchestrationWithID("C", id, "").Await(); err != nil {
						return "", err
					}
				}
				if !more {
					return "", nil
				}
			}
		})
		env.Child("C").Optional()
		env.Start(ids)
		if got, want := env.Failure(), "instance already exists: "+want; got != want {
			t.Errorf("%s: failure %q; want %q", ids, got, want)
		}
	}
}

// cleaner is a recorder that calls what is to be called at the end of the test.
type cleaner struct {
	recorder
	last []func()
}

func (c *cleaner) Cleanup(f func()) { c.last = append(c.last, f) }
func (c *cleaner) Failed() bool     { return len(c.said) > 0 }

// TestSetUpInVain checks that mocks that are never called, and messages that no code waits for, fail the test at its end,
// unless it says that they are meant.
func TestSetUpInVain(t *testing.T) {
	code := func(c *orch.Context, in string) (string, error) {
		paid, err := c.ScheduleActivity("Charge", in).Await()
		if in == "withdraw" {
			c.ScheduleActivity("Release", in)
			return "", err
		}
		orch.Join(c.ScheduleWait("approval"), c.DequeueEvent("jobs"))
		return paid, err
	}
	send := func(e *orchtest.Env, event, queue string) {
		e.Start("5")
		e.Raise(event, "yes")
		e.Enqueue(queue, "a")
		e.Finish()
	}
	for _, c := range []struct {
		name string
		test func(*orchtest.Env)
		want []string
	}{
		{"all is used", func(e *orchtest.Env) { e.Activity("Charge"); send(e, "approval", "jobs") }, nil},
		{"misspelt", func(e *orchtest.Env) {
			e.Activity("Charge")
			e.Activity("Chrage")
			e.Child("Ship")
			send(e, "aproval", "job")
		}, []string{
			`orchtest: the activity Chrage is mocked, and never called; the code calls Charge. Mock.Optional says that this is meant`,
			`orchtest: the child Ship is mocked, and never called; the code starts none. Mock.Optional says that this is meant`,
			`orchtest: the test sends the event aproval, and the code never waits for that; it waits for the event approval, message of jobs. Env.Unawaited("aproval") says that this is meant`,
			`orchtest: the test sends the message of job, and the code never waits for that; it waits for the event approval, message of jobs. Env.Unawaited("job") says that this is meant`,
		}},
		{"meant", func(e *orchtest.Env) {
			e.Activity("Charge")
			e.Activity("Refund").Optional()
			e.Unawaited("late", "job")
			send(e, "late", "job")
		}, nil},
		{"withdrawn", func(e *orchtest.Env) {
			e.Activity("Charge").Fails("no")
			e.Activity("Release")
			e.Start("withdraw")
		}, []string{`orchtest: the activity Release is mocked and scheduled, and never begins: to go on or to return without awaiting it withdraws it. Mock.Optional says that this is meant`}},
		{"failed before", func(e *orchtest.Env) {
			e.Activity("Chrage")
			defer func() { _ = recover() }() // see recorder
			e.Start("5")
		}, []string{`orchtest: the code calls the activity Charge with "5": mock it with Env.Activity; there are mocks of Chrage`}},
	} {
		r := &cleaner{}
		c.test(orchtest.New(r, code))
		for _, f := range r.last {
			f()
		}
		if diff := cmp.Diff(c.want, r.said); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

type order struct {
	Item  string
	Count int
}

// TestTypedCode checks that code and activities may have typed inputs and results, that a test may run an activity's own
// code, which passes its context on, and that its sleep takes test time.
func TestTypedCode(t *testing.T) {
	code := orch.JSON(func(c *orch.Context, in order) ([]string, error) {
		paid, late := c.ScheduleActivity("Charge", orch.Encode(in)), c.ScheduleTimer(time.Minute)
		if winner, text, err := orch.Select(paid, late); winner == 0 {
			receipt, err := orch.Decode[order](text, err)
			return []string{receipt.Item, fmt.Sprint(receipt.Count)}, err
		}
		return []string{"late"}, nil
	})
	for takes, want := range map[time.Duration]string{time.Second: `["bread","6"]`, time.Hour: `["late"]`} {
		env := orchtest.New(t, code)
		env.Activity("Charge").Runs(node.JSONActivity(func(ctx node.ActivityContext, in order) (order, error) {
			ctx.Sleep(takes)
			in.Count *= 2
			var c context.Context = ctx
			return in, c.Err()
		}))
		if got := env.Run(`{"Item": "bread", "Count": 3}`); got != want {
			t.Errorf("with %s: output %s, want %s", takes, got, want)
		}
	}
	env := orchtest.New(t, code)
	env.Start("bread")
	if got, want := env.Failure(), `the input "bread" is no orchtest_test.order: invalid character 'b' looking for beginning of value`; got != want {
		t.Errorf("failure %q, want %q", got, want)
	}
	if _, err := orch.Decode[order]("5", nil); err == nil || !strings.HasPrefix(err.Error(), `the result "5" is no orchtest_test.order: `) {
		t.Errorf("a result of another type: %v", err)
	}
}

// TestOwnName checks that the code sees the name and version that the test gives it, and that a history written in a test
// is one that CheckHistories takes.
func TestOwnName(t *testing.T) {
	code := func(c *orch.Context, in string) (string, error) {
		if in == "again" {
			c.ContinueAsNew("")
		}
		return c.Name() + "@" + c.Version(), nil
	}
	env := orchtest.New(t, code).As("Refund", engine.V(1, 2, 0))
	if got := env.Run("again"); got != "Refund@1.2.0" {
		t.Errorf("the code sees %s", got)
	}
	files := fstest.MapFS{}
	for i, history := range env.Executions() {
		var text bytes.Buffer
		sample.OK(t, orchtest.WriteHistory(&text, history))
		files[fmt.Sprint(i, ".jsonl")] = &fstest.MapFile{Data: text.Bytes()}
	}
	registry := node.NewRegistry()
	sample.OK(t, registry.Register("Refund", engine.V(1, 2, 0), code))
	orchtest.CheckHistories(t, files, registry)
}

// TestExecutions checks that a continue-as-new carries over keys, custom status, unread messages and the version that
// the code names.
func TestExecutions(t *testing.T) {
	env := orchtest.New(t, func(c *orch.Context, _ string) (string, error) {
		first, _ := c.DequeueEvent("jobs").Await()
		c.SetCustomStatus("did " + first)
		c.SetKVValue("first", first)
		c.ContinueAsNewVersioned("2.0.0", "more")
		return "", nil
	})
	env.Version("2.0.0", func(c *orch.Context, in string) (string, error) {
		second, _ := c.DequeueEvent("jobs").Await()
		first, _ := c.KVValue("first")
		own, _, err := c.RemoteKVValue(orchtest.Instance, "first")
		now, _ := c.UTCNowMs()
		return fmt.Sprint(in, " ", c.Version(), " ", first, " ", second, " ", own, " ", now-orchtest.StartMs, " ", err), nil
	})
	env.Start("")
	env.Enqueue("jobs", "a")
	env.Enqueue("jobs", "b")
	env.Skip(time.Second)
	if got, want := env.Output(), "more 2.0.0 a b a 0 <nil>"; got != want {
		t.Errorf("output %q, want %q", got, want)
	}
	if status, _ := env.CustomStatus(); status != "did a" {
		t.Errorf("custom status %q", status)
	}
	if value, _ := env.KVValue("first"); value != "a" {
		t.Errorf("key %q", value)
	}
	if n := len(env.Executions()); n != 2 {
		t.Errorf("%d executions", n)
	}
}

// TestCancellations checks that activities and children that the code has dropped, or that a cancel ends, return nothing
// or a failure.
func TestCancellations(t *testing.T) {
	env := orchtest.New(t, func(c *orch.Context, _ string) (string, error) {
		slow, child := c.ScheduleActivity("Slow", ""), c.ScheduleSubOrchestration("Child", "")
		orch.Select(c.ScheduleTimer(time.Second), slow)
		_, err := child.Await()
		return fmt.Sprint(err), nil
	})
	env.Activity("Slow").Takes(time.Minute)
	env.Child("Child").Takes(time.Hour)
	env.Start("")
	env.Skip(time.Minute)
	env.Cancel("too slow")
	env.Finish()
	if got := env.Failure(); got != "canceled: too slow" {
		t.Errorf("failure %q", got)
	}
	var kinds []engine.EventKind
	for _, e := range env.History() {
		kinds = append(kinds, e.Kind())
	}
	want := []engine.EventKind{
		"OrchestrationStarted", "ActivityScheduled", "SubOrchestrationScheduled", "TimerCreated", "TimerFired",
		"ActivityCancelRequested", "OrchestrationCancelRequested", "OrchestrationFailed",
	}
	if d := cmp.Diff(want, kinds); d != "" {
		t.Errorf("history differs (-want +got):\n%s", d)
	}
	dropped := orchtest.New(t, func(c *orch.Context, _ string) (string, error) {
		child := c.ScheduleSubOrchestration("Child", "")
		orch.Select(c.ScheduleTimer(time.Second), child)
		c.StartOrchestration("Other", "other-1", "in")
		return c.ScheduleTimer(time.Second).Await()
	})
	dropped.Child("Child").Takes(time.Hour)
	dropped.Run("")
	if got := dropped.History()[7].Data; eventdata.KindOf(got) != "SubOrchestrationFailed" {
		t.Errorf("a cancelled child answers with %s", eventdata.KindOf(got))
	}
	if d := cmp.Diff([]engine.StartItem{{Instance: "other-1", Orchestration: "Other", Input: "in", ExecutionID: 1}}, dropped.Detached()); d != "" {
		t.Errorf("detached starts differ (-want +got):\n%s", d)
	}
}

// TestMockEndsTest checks that a mock may end the test, as by t.Fatal.
func TestMockEndsTest(t *testing.T) {
	t.Run("ends", func(t *testing.T) {
		env := orchtest.New(t, refund)
		env.Activity("PayBack").Does(func(string) (string, error) { t.SkipNow(); return "", nil })
		env.Start("")
		t.Error("the test goes on")
	})
}

// TestRetries lets an activity fail twice and then succeed; the pauses are skipped.
func TestRetries(t *testing.T) {
	env := orchtest.New(t, func(c *orch.Context, _ string) (string, error) {
		return c.ScheduleActivityWithRetry("Pay", "5", orch.DefaultRetryPolicy())
	})
	tries := 0
	pay := env.Activity("Pay").Does(func(string) (string, error) {
		if tries++; tries < 3 {
			return "", errors.New("busy")
		}
		return "paid", nil
	})
	if got := env.Run(""); got != "paid" || len(pay.Inputs()) != 3 {
		t.Errorf("output %q after %d calls", got, len(pay.Inputs()))
	}
}

func TestCheckHistories(t *testing.T) {
	const head = `{"event_id":1,"source_event_id":null,"instance_id":"i","execution_id":1,"timestamp_ms":1,"duroxide_version":"1.5.0",` +
		`"type":"OrchestrationStarted","name":"Refund","version":"1.0.0","input":"Pay","parent_instance":null,"parent_id":null}` + "\n"
	const call = `{"event_id":2,"source_event_id":null,"instance_id":"i","execution_id":1,"timestamp_ms":1,"duroxide_version":"1.5.0",` +
		`"type":"ActivityScheduled","name":"Pay","input":"5"}` + "\n"
	dropped := strings.Replace(head, "1.0.0", "0.9.0", 1) + strings.Replace(call, `ActivityScheduled","name":"Pay","input":"5"`, `OrchestrationCompleted","output":"5"`, 1)
	const no = `{"Application":{"kind":"ActivityFailed","message":"no","retryable":false}}`
	registry := node.NewRegistry()
	code := func(c *orch.Context, name string) (string, error) {
		return c.ScheduleActivity(name, fmt.Sprint(5+len(c.KVAllValues()))).Await()
	}
	sample.OK(t, registry.Register("Refund", engine.V(1, 0, 0), code))
	sample.OK(t, registry.RegisterActivity("Pay", func(node.ActivityContext, string) (string, error) { return "", nil }))
	for _, c := range []struct {
		name string
		tree fs.FS
		want string
	}{
		{"agrees", fstest.MapFS{"a/b.jsonl": {Data: []byte(head + "\n" + call)}}, ""},
		{"differs", fstest.MapFS{"b.jsonl": {Data: []byte(head + strings.Replace(call, "Pay", "Play", 1))}},
			`b.jsonl: the code of Refund@1.0.0 differs from the history: nondeterministic: schedule mismatch`},
		{"alike", fstest.MapFS{"a.jsonl": {Data: []byte(head + call)}, "b.jsonl": {Data: []byte(head + strings.Replace(call, "5\"}", "6\"}", 1))}, "c.jsonl": {Data: []byte(head + strings.Replace(call, "5\"}", "7\"}", 1))}}, "\nand 1 more file, "},
		{"ended by 0.1.26", fstest.MapFS{"b.jsonl": {Data: []byte(head + call + strings.NewReplacer(`:2,`, `:3,`, "null", "2", `ActivityScheduled","name":"Pay","input":"5"`, `ActivityFailed","details":`+no).Replace(call) +
			strings.NewReplacer(`:2,`, `:4,`, `"i"`, `""`, `n_id":1`, `n_id":0`, `ActivityScheduled","name":"Pay","input":"5"`, `OrchestrationFailed","details":`+strings.Replace(no, "Activity", "Orchestration", 1)).Replace(call))}}, ""},
		{"ended", fstest.MapFS{"a.jsonl": {Data: []byte(head + call)}, "b.jsonl": {Data: []byte(dropped)}}, ""},
		{"all ended", fstest.MapFS{"b.jsonl": {Data: []byte(dropped)}}, "nothing was checked: b.jsonl: Refund@0.9.0 is not registered, and the history has ended"},
		{"keys", fstest.MapFS{"b.jsonl": {Data: []byte(strings.ReplaceAll(head+strings.Replace(call, "5\"}", "6\"}", 1), `execution_id":1`, `execution_id":2`))}}, "; this is execution 2 and reads keys: a history lacks those that"},
		{"no such directory", os.DirFS("testdata/none"), "orchtest: testdata/none: "},
		{"no tree", nil, "a registry, not nil"},
		{"waits", fstest.MapFS{"b.jsonl": {Data: []byte(strings.ReplaceAll(head+call, "Pay", "Play"))}}, "the activity Play is not registered, and"},
		{"damaged", fstest.MapFS{"b.jsonl": {Data: []byte(head + "{")}}, `b.jsonl: line 2: `},
		{"without a beginning", fstest.MapFS{"b.jsonl": {Data: []byte(call)}}, "begins with ActivityScheduled"},
		{"empty", fstest.MapFS{"b.jsonl": {}}, "has no event"},
		{"two", fstest.MapFS{"b.jsonl": {Data: []byte(head + call + "\n" + head + call)}}, ", execution 1, follows event 2 of "},
		{"one lacks", fstest.MapFS{"b.jsonl": {Data: []byte(head + strings.Replace(call, `event_id":2`, `event_id":3`, 1))}}, "event 3 of i, execution 1, follows event 1 of "},
		{"nothing", fstest.MapFS{"b.txt": {}}, "nothing was checked"},
	} {
		got := reports(func(t orchtest.T) { orchtest.CheckHistories(t, c.tree, registry) })
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: reported %q; want %q", c.name, got, c.want)
		}
	}
}
