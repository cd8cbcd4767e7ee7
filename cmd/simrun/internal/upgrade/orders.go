package upgrade

import (
	"cmp"
	"slices"
	"strings"

	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// Order is a possible order of the plan's steps, with its effect.
type Order struct {
	// Steps gives the order as indexes into Report.Steps.
	Steps []int  `json:"steps"`
	Text  string `json:"text"`
	Effect
}

// mostOrders is the maximum number of orders to try. It covers all 5! orders of five steps; with more steps, a sample
// is tried.
const mostOrders = 120

// TryOrders tries other orders of the plan's steps, running each with that many seeds. The steps happen at the times in
// the plan, and the steps of any one node keep their order. Orders are ranked by what they violate, and by the amount of
// work that they lose, strand, and delay. none is the effect of no step. If there are more than 120 orders, TryOrders
// tries a sample, which includes the plan's own order. The sample depends only on the plan and the first seed.
func TryOrders(c Config, seeds uint64, none *Effect) ([]Order, error) {
	first, err := c.Plan(c.First)
	if err != nil {
		return nil, err
	}
	all := Steps(first)
	orders := permutations(all, c.First)
	total, done := uint64(len(orders))*seeds, uint64(0)
	out := make([]Order, len(orders))
	for i, order := range orders {
		t := trial{cfg: &c, change: func(p *plan.Plan, _ uint64) { reorder(p, order) }, done: func() {
			if done++; c.OnProgress != nil {
				c.OnProgress(done, total)
			}
		}}
		out[i] = Order{Steps: order, Text: orderText(all, order), Effect: Effect{since: none}}
		if _, err := t.run(seeds, func(p *plan.Plan, res *cluster.Result) { out[i].add(c.Snapshot, p, res) }); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(out, func(a, b Order) int {
		return cmp.Or(a.loses(&b.Effect), cmp.Compare(a.WaitedMs, b.WaitedMs), cmp.Compare(a.LongestMs, b.LongestMs), slices.Compare(a.Steps, b.Steps))
	})
	return out, nil
}

func orderText(all []plan.Step, order []int) string {
	var words []string
	for _, i := range order {
		words = append(words, all[i].String())
	}
	return strings.Join(words, ", ")
}

// reorder puts the plan's steps in the order given by order, keeping the times.
func reorder(p *plan.Plan, order []int) {
	all := Steps(p)
	showStranded(p)
	p.Schedule = slices.DeleteFunc(slices.Clone(p.Schedule), func(s plan.Step) bool { return s.Verb != plan.VerbMark })
	for slot, i := range order {
		s := all[i]
		s.At = all[slot].At
		p.Schedule = append(p.Schedule, s)
	}
}

// permutations returns the orders to try. The plan's own order is first.
func permutations(all []plan.Step, seed uint64) [][]int {
	own := inOrder(len(all))
	var orders [][]int
	complete := true
	var extend func(prefix, rest []int)
	extend = func(prefix, rest []int) {
		if len(orders) > mostOrders {
			complete = false
			return
		}
		if len(rest) == 0 {
			orders = append(orders, slices.Clone(prefix))
			return
		}
		for i, next := range rest {
			if !blocked(all, rest, i) {
				extend(append(slices.Clone(prefix), next), slices.Delete(slices.Clone(rest), i, i+1))
			}
		}
	}
	extend(nil, own)
	if complete && len(orders) <= mostOrders {
		return orders
	}
	return append([][]int{own}, sampled(all, seed)...)
}

// inOrder returns the numbers of so many steps, in their own order.
func inOrder(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// blocked reports whether an earlier step of the same node has not been placed before rest[i].
func blocked(all []plan.Step, rest []int, i int) bool {
	return slices.ContainsFunc(rest[:i], func(j int) bool { return all[j].Node == all[rest[i]].Node })
}

var (
	labelOrders = sim.NewLabel("orders")
	labelNext   = sim.NewLabel("next")
)

// sampled returns a random sample of distinct orders, excluding the plan's own.
func sampled(all []plan.Step, seed uint64) [][]int {
	chooser, root := sim.Random(seed), sim.RootKey(false).At(labelOrders)
	seen := map[string]bool{}
	var orders [][]int
	for try := uint64(0); len(orders) < mostOrders/4 && try < 4*mostOrders; try++ {
		rest := inOrder(len(all))
		var order []int
		for n := uint64(0); len(rest) > 0; n++ {
			var free []int
			for i := range rest {
				if !blocked(all, rest, i) {
					free = append(free, i)
				}
			}
			at := free[chooser.Choose(root.Num(labelOrders, try).Num(labelNext, n), uint64(len(free)))]
			order = append(order, rest[at])
			rest = slices.Delete(rest, at, at+1)
		}
		if text := orderText(all, order); !seen[text] && !slices.IsSorted(order) {
			seen[text] = true
			orders = append(orders, order)
		}
	}
	return orders
}
