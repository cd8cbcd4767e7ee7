package workload

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/plan"
)

// Orchestration is one of the orchestrations registered by shipped builds.
type Orchestration struct {
	Name    string
	Version engine.Version
	// Since is the first build that ships the orchestration.
	Since   engine.Version
	Summary string
	// Expect is how an instance usually ends.
	Expect  plan.End
	handler orch.Handler
	// staged is set if the orchestration needs a plan designed for it.
	staged bool
}

// Orchestrations returns the shipped orchestrations, sorted by name and version.
func Orchestrations() []Orchestration { return slices.Clone(shipped) }

// Common returns the shipped orchestrations that make sense in any cluster. This excludes those that misbehave and
// those that continue stored histories.
func Common() []Orchestration {
	return slices.DeleteFunc(Orchestrations(), func(o Orchestration) bool { return o.staged })
}

// shipped is the immutable list behind Orchestrations.
var shipped = allShipped()

func allShipped() []Orchestration {
	v1, v2 := engine.V(1, 0, 0), engine.V(2, 0, 0)
	always := engine.V(0, 0, 0)
	list := []Orchestration{
		{"Approval", v1, always, "runs an activity, then waits for \"approval\" through the new interface for at most as long as its input says (5s)", plan.EndCompleted, approval, false},
		{"Cancellable", v1, always, "waits for \"go\" until it is cancelled", plan.EndAny, cancellable, false},
		{"Chain", v1, always, "runs as many activities as its input says (3), one after the other, with timers between them", plan.EndCompleted, chain, false},
		{"Counter", v1, always, "continues as new as often as its input says (3), then completes", plan.EndCompleted, counter, false},
		{"Eternal", v1, always, "runs an activity and a timer, then continues as new, until it is cancelled", plan.EndEternal, eternal, false},
		{"Family", v1, always, "runs a child that continues as new, then continues as new itself as often as its input says (1)", plan.EndCompleted, family, false},
		{"FanOut", v1, always, "runs as many activities as its input says (5) and joins them", plan.EndCompleted, fanOut, false},
		{"Foster", v1, always, "asks for a child without an id, races it with a timer of 2s, and continues as new as often as its input says (2)", plan.EndCompleted, foster, false},
		{"Hasty", v1, always, "schedules a child and completes in the same turn, so the child never starts", plan.EndCompleted, hasty, false},
		{"Herald", v1, always, "starts a detached Leaf and continues as new in one turn, as often as its input says (2)", plan.EndCompleted, herald, false},
		{"Leaf", v1, always, "runs one activity; the child of Parent", plan.EndCompleted, leaf, false},
		{"Nanny", v1, always, "leaves an eternal child behind when it continues as new, and another when it panics", plan.EndFailed, nanny, false},
		{"OrderDesk", v1, always, "waits for \"approval\", then continues as new in the latest version, as often as its input says (2)", plan.EndCompleted, orderDesk1, false},
		{"OrderDesk", v2, v2, "the same with the wait of the new generation, which times out", plan.EndCompleted, orderDesk2, false},
		{"Panicky", v1, always, "panics after one activity", plan.EndFailed, panicky, false},
		{"Parent", v1, always, "runs two children and joins them", plan.EndCompleted, parent, false},
		{"ProcessOrder", v1, always, "reserves, waits for \"approval\", charges, pauses, ships", plan.EndCompleted, processOrder1, false},
		{"ProcessOrder", v2, v2, "the same with the wait of the new generation, which times out", plan.EndCompleted, processOrder2, false},
		{"Race", v1, always, "races two activities as often as its input says (3), and returns the winners", plan.EndCompleted, race, false},
		{"Restless", v1, always, "continues as new as often as its input says (3), each time with an activity outstanding", plan.EndCompleted, restless, false},
	}
	for _, more := range []func(v1, always engine.Version) []Orchestration{featureOrchestrations, edgeCaseOrchestrations} {
		list = append(list, more(v1, always)...)
	}
	for _, o := range append(misbehavingOrchestrations(v1, always),
		Orchestration{"Archivist", v1, always, "goes on with a stored history in which every text is hard to read; it must be told each", plan.EndAny, archivist, false}) {
		o.staged = true
		list = append(list, o)
	}
	slices.SortStableFunc(list, func(a, b Orchestration) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Known returns the names that a plan may use if its nodes have the default workload.
func Known() plan.Known {
	return plan.Known{Builds: engine.ShippedBuilds(), Orchestrations: Names()}
}

// Names returns the orchestrations' names and versions as NAME@VERSION.
func Names() []string { return pretty.Texts(shipped, Orchestration.fullName) }

func (o Orchestration) fullName() string { return o.Name + "@" + o.Version.String() }

// activities returns the names of the activities used by the shipped orchestrations.
func activities() []string { return []string{"Charge", "Reserve", "Ship", "Tick", "Work"} }

// Handlers registers the handlers that a build ships: all activities, and the orchestrations introduced in its version
// or earlier.
func Handlers(r *node.Registry, b *engine.Build) error {
	for _, o := range shipped {
		if b.Version.Compare(o.Since) < 0 {
			continue
		}
		if err := o.register(r); err != nil {
			return err
		}
	}
	for _, a := range activities() {
		if err := r.RegisterActivity(a, echo(a)); err != nil {
			return err
		}
	}
	same := func(_ node.ActivityContext, input string) (string, error) { return input, nil }
	if err := errors.Join(r.RegisterActivity("Echo", same), r.RegisterActivity("Nap", nap)); err != nil {
		return err
	}
	return misbehavingActivities(r)
}

func (o *Orchestration) register(r *node.Registry) error {
	if err := r.Register(o.Name, o.Version, o.handler); err != nil || o.Name != "Notary" {
		return err
	}
	return r.SetPolicy(o.Name, node.Exact(engine.V(1, 0, 0)))
}

// nap sleeps for its input, such as 4s, and returns it.
func nap(ctx node.ActivityContext, input string) (string, error) {
	d, err := time.ParseDuration(input)
	ctx.Sleep(d)
	return input, err
}

// echo returns an activity that returns its own name and input.
func echo(name string) node.Activity {
	return func(_ node.ActivityContext, input string) (string, error) { return name + "(" + input + ")", nil }
}

func number(input string, byDefault int) int {
	if n, err := strconv.Atoi(input); err == nil && n >= 0 {
		return n
	}
	return byDefault
}

// sleep waits for a timer, which cannot fail.
func sleep(ctx *orch.Context, d time.Duration) {
	if _, err := ctx.ScheduleTimer(d).Await(); err != nil {
		panic(err)
	}
}

// work runs the activity Work. It tries often, since a fault may make an activity panic.
func work(ctx *orch.Context, input string, options ...orch.ActivityOption) (string, error) {
	policy := orch.DefaultRetryPolicy()
	policy.MaxAttempts = 20
	return ctx.ScheduleActivityWithRetry("Work", input, policy, options...)
}

func processOrder1(ctx *orch.Context, input string) (string, error) {
	if _, err := ctx.ScheduleActivity("Reserve", input).Await(); err != nil {
		return "", err
	}
	approved, err := ctx.ScheduleWait("approval").Await()
	if err != nil {
		return "", err
	}
	return chargeAndShip(ctx, input, approved)
}

func processOrder2(ctx *orch.Context, input string) (string, error) {
	if _, err := ctx.ScheduleActivity("Reserve", input).Await(); err != nil {
		return "", err
	}
	i, approved, err := orch.Select(ctx.ScheduleWait2("approval", "orders"), ctx.ScheduleTimer(time.Hour))
	if err != nil {
		return "", err
	}
	if i == 1 {
		return "timed out", nil
	}
	return chargeAndShip(ctx, input, approved)
}

func chargeAndShip(ctx *orch.Context, input, approved string) (string, error) {
	if _, err := ctx.ScheduleActivity("Charge", input).Await(); err != nil {
		return "", err
	}
	sleep(ctx, time.Second)
	shipped, err := ctx.ScheduleActivity("Ship", input).Await()
	if err != nil {
		return "", err
	}
	return shipped + " approved by " + approved, nil
}

func eternal(ctx *orch.Context, input string) (string, error) {
	if _, err := ctx.ScheduleActivity("Tick", input).Await(); err != nil {
		return "", err
	}
	sleep(ctx, 4*time.Second)
	ctx.ContinueAsNew(strconv.Itoa(number(input, 0) + 1))
	return "", nil
}

func counter(ctx *orch.Context, input string) (string, error) {
	if _, err := ctx.ScheduleActivity("Tick", input).Await(); err != nil {
		return "", err
	}
	left := number(input, 3)
	if left == 0 {
		return "done", nil
	}
	sleep(ctx, 500*time.Millisecond)
	ctx.ContinueAsNew(strconv.Itoa(left - 1))
	return "", nil
}

func restless(ctx *orch.Context, input string) (string, error) {
	left := number(input, 3)
	if left == 0 {
		return "done", nil
	}
	ctx.ScheduleActivity("Work", input)
	sleep(ctx, 200*time.Millisecond)
	ctx.ContinueAsNew(strconv.Itoa(left - 1))
	return "", nil
}

func fanOut(ctx *orch.Context, input string) (string, error) {
	futures := make([]*orch.Future, number(input, 5))
	for i := range futures {
		futures[i] = ctx.ScheduleActivity("Work", strconv.Itoa(i))
	}
	done := 0
	for _, o := range orch.Join(futures...) {
		if o.Err != nil {
			return "", o.Err
		}
		done++
	}
	return strconv.Itoa(done) + " done", nil
}

func leaf(ctx *orch.Context, input string) (string, error) {
	return ctx.ScheduleActivity("Work", input).Await()
}

func parent(ctx *orch.Context, _ string) (string, error) {
	left := ctx.ScheduleSubOrchestration("Leaf", "left")
	right := ctx.ScheduleSubOrchestration("Leaf", "right")
	var out []string
	for _, o := range orch.Join(left, right) {
		if o.Err != nil {
			return "", o.Err
		}
		out = append(out, o.Value)
	}
	return strings.Join(out, " "), nil
}

func approval(ctx *orch.Context, input string) (string, error) {
	limit, err := time.ParseDuration(input)
	if err != nil {
		limit = 5 * time.Second
	}
	if _, err := ctx.ScheduleActivity("Reserve", input).Await(); err != nil {
		return "", err
	}
	// Every build has the new interface. Which events are written depends only on the execution's pin.
	i, value, err := orch.Select(ctx.ScheduleWait2("approval", "orders"), ctx.ScheduleTimer(limit))
	switch {
	case err != nil:
		return "", err
	case i == 1:
		return "timed out", nil
	}
	return "approved by " + value, nil
}

func chain(ctx *orch.Context, input string) (string, error) {
	n := number(input, 3)
	for i := range n {
		if _, err := ctx.ScheduleActivity("Work", strconv.Itoa(i)).Await(); err != nil {
			return "", err
		}
		sleep(ctx, 300*time.Millisecond)
	}
	return strconv.Itoa(n) + " done", nil
}

func cancellable(ctx *orch.Context, _ string) (string, error) {
	return ctx.ScheduleWait("go").Await()
}

func panicky(ctx *orch.Context, input string) (string, error) {
	if _, err := ctx.ScheduleActivity("Work", input).Await(); err != nil {
		return "", err
	}
	panic(errors.New("panicky orchestration"))
}

func family(ctx *orch.Context, input string) (string, error) {
	left := number(input, 1)
	child := ctx.ScheduleSubOrchestrationWithID("Counter", ctx.InstanceID()+"/child-"+strconv.Itoa(left), "1")
	done, err := child.Await()
	if err != nil {
		return "", err
	}
	if left > 0 {
		ctx.ContinueAsNew(strconv.Itoa(left - 1))
		return "", nil
	}
	return "the last child: " + done, nil
}

func foster(ctx *orch.Context, input string) (string, error) {
	left := number(input, 2)
	// Each execution asks at another event, since automatic ids may be made of nothing else.
	for range ctx.ExecutionID() {
		sleep(ctx, 100*time.Millisecond)
	}
	child := ctx.ScheduleSubOrchestration("Counter", strconv.Itoa(2*left))
	if _, _, err := orch.Select(child, ctx.ScheduleTimer(2*time.Second)); err != nil {
		return "", err
	}
	sleep(ctx, 500*time.Millisecond)
	if left == 0 {
		return "done", nil
	}
	ctx.ContinueAsNew(strconv.Itoa(left - 1))
	return "", nil
}

func hasty(ctx *orch.Context, input string) (string, error) {
	if _, err := ctx.ScheduleActivity("Work", input).Await(); err != nil {
		return "", err
	}
	ctx.ScheduleSubOrchestration("Leaf", "never mind")
	return "done", nil
}

func herald(ctx *orch.Context, input string) (string, error) {
	if _, err := ctx.ScheduleActivity("Work", input).Await(); err != nil {
		return "", err
	}
	left := number(input, 2)
	if left == 0 {
		return "done", nil
	}
	ctx.StartOrchestration("Leaf", ctx.InstanceID()+"/message-"+strconv.Itoa(left), input)
	ctx.ContinueAsNew(strconv.Itoa(left - 1))
	return "", nil
}

func nanny(ctx *orch.Context, input string) (string, error) {
	left := number(input, 1)
	ctx.ScheduleSubOrchestrationWithID("Eternal", ctx.InstanceID()+"/child-"+strconv.Itoa(left), "")
	if _, err := ctx.ScheduleActivity("Work", input).Await(); err != nil {
		return "", err
	}
	if left == 0 {
		panic(errors.New("the nanny had enough"))
	}
	ctx.ContinueAsNew(strconv.Itoa(left - 1))
	return "", nil
}

func race(ctx *orch.Context, input string) (string, error) {
	var winners []string
	for i := range number(input, 3) {
		round := strconv.Itoa(i)
		bell := ctx.ScheduleTimer(300 * time.Millisecond)
		left, right := ctx.ScheduleActivity("Work", "left "+round), ctx.ScheduleActivity("Work", "right "+round)
		if i%2 == 1 { // both may have a result by now
			if _, err := bell.Await(); err != nil {
				return "", err
			}
		}
		_, winner, err := orch.Select(left, right)
		if err != nil {
			return "", err
		}
		winners = append(winners, winner)
		if _, err := bell.Await(); err != nil {
			return "", err
		}
		// The timer has fired, so this activity is dropped in the same turn that schedules it.
		if _, _, err := orch.Select(bell, ctx.ScheduleActivity("Tick", round)); err != nil {
			return "", err
		}
	}
	return strings.Join(winners, ", "), nil
}

// orderDesk1 waits for an approval and then continues as new for the next order.
func orderDesk1(ctx *orch.Context, input string) (string, error) {
	if _, err := ctx.ScheduleActivity("Reserve", input).Await(); err != nil {
		return "", err
	}
	if _, err := ctx.ScheduleWait("approval").Await(); err != nil {
		return "", err
	}
	return nextOrder(ctx, input)
}

// orderDesk2 is like orderDesk1 but uses a second-generation wait and a timeout.
func orderDesk2(ctx *orch.Context, input string) (string, error) {
	if _, err := ctx.ScheduleActivity("Reserve", input).Await(); err != nil {
		return "", err
	}
	if _, _, err := orch.Select(ctx.ScheduleWait2("approval", "orders"), ctx.ScheduleTimer(time.Hour)); err != nil {
		return "", err
	}
	return nextOrder(ctx, input)
}

func nextOrder(ctx *orch.Context, input string) (string, error) {
	left := number(input, 2)
	if left == 0 {
		return "closed", nil
	}
	ctx.ContinueAsNew(strconv.Itoa(left - 1))
	return "", nil
}
