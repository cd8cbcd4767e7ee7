package durosim_test

import (
	"errors"
	"fmt"
	"math/rand"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/cluster"
)

// world is what lasts outside the cluster.
type world struct {
	bad                           string // the mistake
	charged, refunded, sent, runs map[string]int
	left, orders                  int // parcels that have left, as read and written, and as they are
}

// shopRun returns what belongs to one run of the shop, with a mistake or, if bad is empty, without.
func shopRun(bad string) durosim.Run {
	w := &world{bad, map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}, 0, 0}
	return durosim.Run{
		Applications: []durosim.Application{{Version: "1.0.0", Register: w.first}, {Version: "2.0.0", Register: w.second}},
		Invariants: []durosim.Invariant{
			{Name: "pays-for-what-is-sent", Statement: "An order that was sent is charged once, and any other not at all.", AtEnd: w.paid},
			{Name: "stock-is-counted", Statement: "Each parcel that has left is counted.", AtEnd: func([]cluster.FinalState) error {
				if w.left != w.orders {
					return fmt.Errorf("%d parcels have left, and %d are counted", w.orders, w.left)
				}
				return nil
			}},
		},
	}
}

func (w *world) first(r *node.Registry) error {
	return errors.Join(w.common(r), r.Register("Order", engine.V(1, 0, 0), w.order), r.Register("Shipping", engine.V(1, 0, 0), w.shipping),
		r.RegisterActivity("Charge", w.charge))
}

func (w *world) second(r *node.Registry) error {
	one, two, charge := w.order, w.orderChecked, w.charge
	switch w.bad {
	case "7b":
		one, two = two, one
	case "11":
		one = two
	case "10":
		charge = func(ctx node.ActivityContext, price string) (string, error) {
			_, err := w.charge(ctx, price)
			return `{"receipt":"` + ctx.Instance + `"}`, err
		}
	}
	err := w.common(r)
	if w.bad != "7d" {
		err = errors.Join(err, r.RegisterActivity("Charge", charge))
	}
	if w.bad != "7a" {
		err = errors.Join(err, r.Register("Order", engine.V(1, 0, 0), one))
	}
	if w.bad != "7c" {
		err = errors.Join(err, r.Register("Shipping", engine.V(1, 0, 0), w.shipping))
	}
	err = errors.Join(err, r.Register("Order", engine.V(2, 0, 0), two), r.Register("Shipping", engine.V(2, 0, 0), w.shipping))
	if w.bad != "12" && w.bad != "7a" {
		err = errors.Join(err, r.SetPolicy("Order", node.Exact(engine.V(1, 0, 0))), r.SetPolicy("Shipping", node.Exact(engine.V(1, 0, 0))))
	}
	return err
}

func (w *world) common(r *node.Registry) error {
	count := func(m map[string]int) node.Activity {
		return func(ctx node.ActivityContext, order string) (string, error) {
			if m[order] == 0 {
				m[order]++
			}
			return "done", nil
		}
	}
	return errors.Join(r.Register("Subscription", engine.V(1, 0, 0), w.subscription), r.RegisterActivity("Refund", count(w.refunded)),
		r.RegisterActivity("Send", count(w.sent)), r.RegisterActivity("Check", func(_ node.ActivityContext, in string) (string, error) { return in, nil }),
		r.RegisterActivity("Stock", w.reads), r.RegisterActivity("Renew", count(w.runs)))
}

// charge takes the price once, whatever the number of its calls, unless the card is refused at first.
func (w *world) charge(ctx node.ActivityContext, price string) (string, error) {
	order := ctx.Instance
	if w.runs[order]++; w.runs[order] == 1 && strings.HasSuffix(price, "3") {
		return "", errors.New("the bank is busy")
	}
	if w.bad == "1" || w.charged[order] == 0 {
		w.charged[order]++
	}
	return "receipt " + order, nil
}

// reads tells how many parcels have left or, with an input, sets it to one more.
func (w *world) reads(ctx node.ActivityContext, in string) (string, error) {
	if n, order, write := strings.Cut(in, " "); write && w.runs["left "+order] == 0 {
		w.runs["left "+order], w.left = 1, 0
		fmt.Sscan(n, &w.left)
		w.left++
		w.orders++
	}
	return strconv.Itoa(w.left), nil
}

// order is version 1.0.0: charge, ship, and refund if that fails.
func (w *world) order(ctx *orch.Context, price string) (string, error) {
	ctx.SetCustomStatus("begun")
	ctx.SetKVValue("price", price)
	policy := orch.DefaultRetryPolicy()
	policy.MaxAttempts = 20
	if w.bad == "4" {
		pay, late := ctx.ScheduleActivity("Charge", price), ctx.ScheduleTimer(250*time.Millisecond)
		if i, _, err := orch.Select(pay, late); i == 1 || err != nil {
			return "too late", nil
		}
	} else if receipt, err := ctx.ScheduleActivityWithRetry("Charge", price, policy); err != nil {
		return "", err
	} else if receipt != "receipt "+ctx.InstanceID() {
		return "", fmt.Errorf("what is the receipt %s?", receipt)
	}
	if w.bad == "8" {
		n, _ := ctx.ScheduleActivity("Stock", "").Await()
		ctx.ScheduleActivity("Stock", n+" "+ctx.InstanceID()).Await()
	}
	w.odd(ctx, price)
	return w.ship(ctx, price)
}

// ship sends the parcel, and pays back if that fails.
func (w *world) ship(ctx *orch.Context, price string) (string, error) {
	id := ctx.InstanceID()
	if w.bad == "6a" {
		ctx.StartOrchestration("Shipping", id+"-parcel", id+" "+price)
		ctx.ScheduleActivity("Refund", id).Await()
		return "shipped", nil
	}
	child := ctx.ScheduleSubOrchestration("Shipping", id+" "+price)
	i, _, err := 0, "", error(nil)
	if w.bad == "6b" {
		i, _, err = orch.Select(child, ctx.ScheduleTimer(time.Second))
	} else {
		_, err = child.Await()
	}
	if err == nil && i == 0 {
		ctx.SetCustomStatus("shipped")
		return "shipped", nil
	}
	if w.bad != "5" {
		if _, err := ctx.ScheduleActivity("Refund", id).Await(); err != nil {
			return "", err
		}
	}
	return "refunded", nil
}

// odd is code that does not do the same in every turn.
func (w *world) odd(ctx *orch.Context, price string) {
	names := []string{"a", "b", "c"}
	switch w.bad {
	case "2a":
		names = nil
		for name := range map[string]bool{"a": true, "b": true, "c": true} {
			names = append(names, name)
		}
	case "2b":
		names[0] = strconv.FormatInt(time.Now().UnixNano(), 10)
	case "2c":
		names[0] = strconv.Itoa(rand.Int())
	case "2d": // whoever is first; both are there, so that a busy machine does not decide it
		first, second := make(chan string, 1), make(chan string, 1)
		var both sync.WaitGroup
		both.Go(func() { first <- names[0] })
		both.Go(func() { second <- names[1] })
		both.Wait()
		select {
		case name := <-first:
			names = []string{name, <-second}
		case name := <-second:
			names = []string{name, <-first}
		}
	case "2f":
		if strings.HasSuffix(price, "7") && time.Now().UnixNano()%2 == 0 {
			names[0] = "rare"
		}
	default:
		return
	}
	for _, name := range names {
		ctx.ScheduleActivity("Check", name).Await()
	}
}

// orderChecked is version 2.0.0: an order of 100 or more waits for an approval first.
func (w *world) orderChecked(ctx *orch.Context, price string) (string, error) {
	if len(price) < 3 {
		ctx.ScheduleActivity("Check", price).Await()
		return w.order(ctx, price)
	}
	if w.bad == "3" { // the customer is asked before the wait begins
		ctx.ScheduleActivity("Check", price).Await()
		ctx.ScheduleTimer(2 * time.Minute).Await()
	}
	approval, late := ctx.ScheduleWait("approval"), ctx.ScheduleTimer(5*time.Minute)
	ctx.ScheduleActivity("Check", price).Await()
	if i, _, err := orch.Select(approval, late); i == 1 || err != nil {
		return "not approved", err
	}
	return w.order(ctx, price)
}

// shipping is the child: an order whose price ends with 9 cannot be shipped.
func (w *world) shipping(ctx *orch.Context, input string) (string, error) {
	order, price, _ := strings.Cut(input, " ")
	switch {
	case w.bad == "panic":
		var parcels map[string]int
		//lint:ignore SA5000 the mistake
		parcels[order]++
	case w.bad == "2e":
		done := make(chan bool)
		go func() { defer close(done); ctx.ScheduleActivity("Send", order) }()
		<-done
	case strings.HasSuffix(price, "9"):
		return "", errors.New("no such address")
	case w.bad == "6b":
		ctx.ScheduleTimer(time.Second).Await()
	}
	return ctx.ScheduleActivity("Send", order).Await()
}

// subscription renews once for each message of its queue, in an execution of its own; a client may send one twice.
func (w *world) subscription(ctx *orch.Context, input string) (string, error) {
	left, past, _ := strings.Cut(input, " ")
	for n, _ := strconv.Atoi(left); n > 0; {
		renewal, err := ctx.DequeueEvent("renewals").Await()
		if err != nil {
			return "", err
		}
		if _, again := ctx.KVValue(renewal); again {
			continue
		}
		ctx.SetKVValue(renewal, "done")
		if _, err := ctx.ScheduleActivity("Renew", ctx.InstanceID()+" "+renewal).Await(); err != nil {
			return "", err
		}
		if w.bad == "9b" {
			past += strings.Repeat("renewed ", 160)
		}
		for i := 0; w.bad == "9a" && i < 40; i++ { // polls
			ctx.ScheduleTimer(100 * time.Millisecond).Await()
		}
		if n--; w.bad != "9a" && n > 0 {
			ctx.ContinueAsNew(strings.TrimSpace(strconv.Itoa(n) + " " + past))
		}
	}
	return "over", nil
}

func (w *world) paid(ends []cluster.FinalState) error {
	for _, e := range ends {
		if strings.HasPrefix(e.Instance, "Order") && e.Status == engine.StatusCompleted && w.charged[e.Instance]-w.refunded[e.Instance] != w.sent[e.Instance] {
			return durosim.Of(e.Instance, fmt.Errorf("%s (%s) was charged %d times, refunded %d times and sent %d times", e.Instance, e.Output, w.charged[e.Instance], w.refunded[e.Instance], w.sent[e.Instance]))
		}
	}
	return nil
}

const shopPlan = `# Orders and subscriptions are under way while the application is upgraded, node by node; then the new version starts.
nodes A B run 1.5.0+1.0.0
faults light
load 14 instances over 15m
  mix 4 Order with 1..99
  mix 1 Subscription with 8
    enqueue renewals data 1 after 11s
    enqueue renewals data 2 after 12s
    enqueue renewals data 3 after 13s
    enqueue renewals data 4 after 40s
    enqueue renewals data 5 after 45s
    enqueue renewals data 6 after 50s
    enqueue renewals data 7 after 55s
    enqueue renewals data 8 after 1m
at 1m..2m upgrade A to 1.5.0+2.0.0
after 8m..12m upgrade B to 1.5.0+2.0.0
instance big-1 runs Order@2.0.0 with 112 at 16m
  raise approval data yes after 50s
instance big-2 runs Order@2.0.0 with 249 at 16m..17m
  raise approval data yes after 50s
instance twin-1 runs Order with 20 at 6m
instance twin-2 runs Order with 40 at 6m
instance twin-3 runs Order with 60 at 6m
expect taken
`

// TestShopMistakes plants the first mistakes of authors in a shop. Each is found within ten seeds by the default settings, and
// its report names the handler and, where code is at fault, its line. The shop without a mistake holds.
func TestShopMistakes(t *testing.T) {
	type mistake struct{ id, what, want string }
	mistakes := []mistake{
		{"1", "the charge is not idempotent", `violates pays-for-what-is-sent.*was charged 2 times`},
		{"2a", "ranges over a map", `violates S11.*at durosim_test.\(\*world\).odd \(shop_test.go:\d+\)|gave two different runs`},
		{"2b", "reads the clock", `S11.*at durosim_test.\(\*world\).odd \(shop_test.go:\d+\)|gave two different runs`},
		{"2c", "draws chance", `S11.*at durosim_test.\(\*world\).odd \(shop_test.go:\d+\)|gave two different runs`},
		{"2d", "goroutines race", `violates S11.*Order@1.0.0|gave two different runs`},
		{"2e", "a goroutine uses the Context of a child", `violates handler-panics.*Shipping@1.0.0.*shop_test.go:\d+`},
		{"2f", "reads the clock in a rare branch", `violates S11|gave two different runs`},
		{"3", "waits for the approval too late", `nobody took the event "approval", which a client sends to Order: it came before the wait for it`},
		{"4", "a timer beats the charge, and nobody refunds", `violates pays-for-what-is-sent.*charged 1 times, refunded 0 times and sent 0`},
		{"5", "no refund when shipping fails", `violates pays-for-what-is-sent.*charged 1 times, refunded 0 times and sent 0`},
		{"6a", "ships detached, and ends before", `violates pays-for-what-is-sent.*refunded 1 times and sent 1`},
		{"6b", "gives up on shipping, which goes on", `violates pays-for-what-is-sent.*refunded 1 times and sent 1`},
		{"7a", "2.0.0 drops Order@1.0.0", `is poisoned.*handler missing: Order@1.0.0`},
		{"7b", "2.0.0 swaps the code of the versions", `violates S11.*Order@1.0.0.*at durosim_test.\(\*world\)`},
		{"7c", "2.0.0 drops Shipping@1.0.0", `is poisoned.*handler missing: Shipping@(latest|1.0.0)`},
		{"7d", "2.0.0 drops Charge", `is (poisoned|failed).*activity Charge: .*must keep that handler`},
		{"8", "two orders read the stock before one writes it", `violates stock-is-counted`},
		{"9a", "loops without continue-as-new", `the history of Subscription@1.0.0 grows in one execution, without continue-as-new`},
		{"9b", "the input grows with each continue-as-new", `the input of Subscription@1.0.0 grows with each execution`},
		{"10", "Charge has another result type", `is failed.*what is the receipt`},
		{"11", "Order@1.0.0 is changed in place", `violates S11.*Order@1.0.0.*at durosim_test.\(\*world\)`},
		{"12", "2.0.0 starts Order@2.0.0 while old nodes are up", `is poisoned.*handler missing: (Order|Shipping)@2.0.0`},
		{"panic", "Shipping panics", `violates handler-panics.*Shipping@1.0.0.*durosim_test.\(\*world\).shipping \(shop_test.go:\d+\)`},
		{"", "no mistake", `every property holds`},
	}
	for _, m := range sample.Of(mistakes, 24) {
		t.Run(strings.ReplaceAll(m.what, " ", "-"), func(t *testing.T) {
			c := durosim.Config{Scenario: shopPlan, Seeds: 10, ShrinkRuns: 50, EachRun: func() durosim.Run { return shopRun(m.id) }}
			if m.id == "" {
				c.Seeds = sample.Number(20, 1000)
			}
			r := runTest(c)
			if r.failed == (m.id == "" || m.id[0] == '9') || !regexp.MustCompile("(?s)"+m.want).MatchString(r.text) {
				t.Errorf("failed %v, want %s:\n%s", r.failed, m.want, r.text)
			}
		})
	}
}
