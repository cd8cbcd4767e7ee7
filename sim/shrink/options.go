package shrink

import (
	"strconv"

	"github.com/durosim/durosim/sim/plan"
)

// fewerAttempts lowers max_attempts, on all nodes that set it, to the lowest value that still shows the violation, so
// that it takes fewer faults to exceed it. It reports whether it changed anything.
func (s *search) fewerAttempts(fresh int) (changed bool) {
	for to := int64(1); to < attempts(s.best); to++ {
		c := withAttempts(s.best, to)
		if s.try(c) {
			return true
		}
		for i := range fresh {
			if s.redraw(c, uint64(i)) {
				return true
			}
		}
	}
	return false
}

// eachAttempts calls f for each max_attempts that a node in the plan sets.
func eachAttempts(p *plan.Plan, f func(o *plan.Setting, n int64)) {
	for i := range p.Nodes {
		for j := range p.Nodes[i].Options {
			o := &p.Nodes[i].Options[j]
			if n, err := strconv.ParseInt(o.Value, 10, 64); err == nil && o.Name == "max_attempts" {
				f(o, n)
			}
		}
	}
}

// attempts returns the largest max_attempts that any node in the plan sets, or 0 if none does.
func attempts(c Concrete) (most int64) {
	eachAttempts(c.Plan, func(_ *plan.Setting, n int64) { most = max(most, n) })
	return most
}

// withAttempts returns the plan with max_attempts capped at a given number.
func withAttempts(c Concrete, most int64) Concrete {
	return edit(c, func(p *plan.Plan) {
		eachAttempts(p, func(o *plan.Setting, n int64) { o.Value = strconv.FormatInt(min(n, most), 10) })
	})
}
