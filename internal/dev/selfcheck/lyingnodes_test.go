package selfcheck_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/internal/dev/selfcheck"
	"github.com/durosim/durosim/internal/dev/stray"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// lyingNode is a node that does everything right except that one field of what it reads or asks for is always wrong, or that it
// always leaves out one kind of thing.
type lyingNode struct {
	*machine.Node
	nodeLie
}

// nodeLie says what a lyingNode has wrong.
type nodeLie struct {
	// place names it, such as "asks ack_work_item: Request.Completion.Result". If it is empty, nothing is wrong, and met
	// gets all places that there are.
	place string
	// last is set if the last of several such fields is wrong, and not the first.
	last bool
	met  map[string]bool // read in sorted order
}

// plumbing matches the fields by which the cluster and the machine know their calls, timers and jobs. If they are wrong,
// there is no node.
var plumbing = regexp.MustCompile(`^(ID|Call|Timer|Job|Slot\..*|Purpose|NowMs|Decision|Level)$`)

// falsified returns v with a field of the lie's place changed, or v itself if it has none.
func falsified[T any](l *nodeLie, about string, v *T) *T {
	if l.place != "" && !strings.HasPrefix(l.place, about+": ") {
		return v
	}
	if l.place == "" {
		for _, place := range rig.Places(v) {
			if !plumbing.MatchString(place) {
				l.met[about+": "+place] = true
			}
		}
		return v
	}
	return rig.Falsify(v, strings.TrimPrefix(l.place, about+": "), l.last)
}

// leavesOut reports whether the lyingNode leaves out what it does about something.
func (l *nodeLie) leavesOut(about string) bool {
	if l.place == "" {
		l.met[about+" left out"] = true
	}
	return l.place == about+" left out"
}

// StepInto implements cluster.Stepper.
func (l *lyingNode) StepInto(in machine.Input, effects []machine.Effect) []machine.Effect {
	if a, ok := in.(*machine.Answer); ok {
		in = falsified(&l.nodeLie, "reads an answer", a)
	}
	before := len(effects)
	effects = l.Node.StepInto(in, effects)
	if _, ok := in.(*machine.Drain); ok && l.leavesOut("the rest, when it is asked to stop,") {
		return append(effects, &machine.Stopped{})
	}
	kept := effects[:before]
	for _, e := range effects[before:] {
		switch x := e.(type) {
		case *machine.ProviderCall:
			e = falsified(&l.nodeLie, "asks "+call.Method(x.Request), x)
		case *machine.SetTimer:
			e = falsified(&l.nodeLie, "waits for "+x.Purpose, x)
		case *machine.RunActivity:
			e = falsified(&l.nodeLie, "runs an activity", x)
		case *machine.RunTurn:
			e = falsified(&l.nodeLie, "runs a turn", x)
		case *machine.Log:
			if l.leavesOut("logs") {
				continue
			}
			e = falsified(&l.nodeLie, "logs", x)
		case *machine.Note:
			if l.leavesOut("notes " + x.Decision.String()) {
				continue
			}
			e = falsified(&l.nodeLie, "notes "+x.Decision.String(), x)
		case *machine.CancelCall:
			if l.leavesOut("cancels a fetch") {
				continue
			}
		case *machine.CancelJob:
			if l.leavesOut("cancels a job") {
				continue
			}
		}
		kept = append(kept, e)
	}
	return kept
}

// toldBy runs a scenario whose nodes tell a lie, and returns the ID of what objects first, or the error or panic that ends
// the run.
func toldBy(t *testing.T, name string, seed uint64, l nodeLie) (first string) {
	t.Helper()
	s, err := stray.Scenario(), error(nil)
	expand, opts, run := stray.Expand, stray.Options(), stray.Run()
	if name != s.Name {
		if s, err = scenario.Lookup(name); err != nil {
			t.Fatal(err)
		}
		expand, opts, run = s.Expand, properties.Options{Expectations: s.Expect}, durosim.Run{}
	}
	p, err := expand(seed, scenario.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if p := recover(); p != nil {
			first = fmt.Sprintf("panic: %v", p)
		}
	}()
	cfg := cluster.Config{
		Plan: p, Seed: seed,
		Node: func(c machine.Config) (cluster.Stepper, error) {
			c.Options = *falsified(&l, "has the option", &c.Options)
			n, err := machine.New(c)
			return &lyingNode{n, l}, err
		},
		Stop: func(cluster.Violation) bool { return true },
	}
	opts.SecondJudge, run.Monitor = 1, selfcheck.Watch
	run.Configure(&cfg, opts)
	r, err := cluster.Run(cfg)
	switch {
	case err != nil:
		return "error: " + err.Error()
	case len(r.Violations) > 0:
		return r.Violations[0].Property
	}
	return ""
}

// unseenLies says of places to which nobody objects why none can.
var unseenLies = []struct{ place, why string }{
	{`asks (abandon|ack|cleanup|get|renew).*: (Cadence|Once)`, "only fetches have it"},
	{`.*Tags with the last twice|.*Owners with the last twice`, "a set"},
	{`notes turn: Turn.Ack.*`, "what is noted here is judged where it is asked for, as ack_orchestration_item"},
	{`notes turn: Turn\.(Asked\[\]\..*|Asked without the first|Polls|Result)`, "what other calls of the code show as well, or what is only told"},
	{`notes .*: Turn there`, "only turns have it"},
	{`reads an answer: (Value there|Orchestration\.Item\.(Pin there|Messages\[\]\.Instance|KVSnapshot\[\]\.LastUpdatedAtMs))`, "nodes have no use for it"},
	{`reads an answer: Orchestration\.Item\.History\[\]\.(ExecutionID|InstanceID|TimestampMs|Data\.(FireAtMs|LastUpdatedAtMs|Output|Text))`, "nodes have no use for it"},
	{`reads an answer: Orchestration\.Item\.History\[\]\.Data\.CarryForwardEvents.*`, "later turns read what the first turn has recorded of them"},
	{`reads an answer: Orchestration\.Item\.History\[\]\.Data\.Details\.(Application(\.Kind|\.Reason|\.Retryable| there)|Poison.*)`, "code sees the message alone, and no scenario's code reads that of a poisoned child in a later turn"},
	{`runs a(n activity| turn): .*`, "tells the cluster for how long it may take"},
}

// TestLyingNodes falsifies each field of each call, timer, job, log line, note and option of a node, and of each answer
// that it reads, for a whole run. Some property or self-check must object, or unseenLies says why none can.
func TestLyingNodes(t *testing.T) {
	in := map[string][]string{} // the scenarios in which a place is met
	names := []string{"features", "families", "programs", "sessions"}
	if sample.All() {
		names = nil
		for _, s := range scenario.Builtin() {
			names = append(names, s.Name)
		}
		names = append(names, stray.Scenario().Name)
	}
	for _, name := range names {
		met := map[string]bool{}
		if first := toldBy(t, name, 1, nodeLie{met: met}); first != "" {
			t.Fatalf("%s, without a lie: %s", name, first)
		}
		for place := range met {
			in[place] = append(in[place], name)
		}
	}
	for _, place := range sample.Of(slices.Sorted(maps.Keys(in)), 64) {
		why := ""
		for _, u := range unseenLies {
			if regexp.MustCompile("^(" + u.place + ")$").MatchString(place) {
				why = u.why
			}
		}
		if why != "" {
			continue
		}
		seen := ""
		for _, last := range []bool{false, true} {
			for _, name := range in[place] {
				if seen == "" {
					seen = toldBy(t, name, 1, nodeLie{place: place, last: last})
				}
			}
		}
		if seen == "" {
			t.Errorf("%s: nobody objects (in %s)", place, strings.Join(in[place], ", "))
		}
	}
}
