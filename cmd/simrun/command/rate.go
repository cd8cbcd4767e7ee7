package command

import (
	"fmt"
	"strings"
	"time"

	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/timeline"
)

// rate records the state of a campaign after each tenth of its seeds, to show whether more seeds are likely to find
// more failures.
type rate struct {
	began  time.Time
	points []ratePoint
}

// ratePoint is the state of a campaign at the end of one of the tenths.
type ratePoint struct {
	done, failed uint64
	after        time.Duration
}

const rateParts = 10

// note adds a point if another tenth has been completed.
func (r *rate) note(p campaign.Progress) {
	if p.Total >= rateParts && p.Done*rateParts >= p.Total*uint64(len(r.points)+1) {
		r.points = append(r.points, ratePoint{p.Done, p.Failed, time.Since(r.began)})
	}
}

// table shows the rate and the newly violated properties for each tenth.
func (r *rate) table(rep *report) timeline.Table {
	t := timeline.Table{Title: "Rate over time", Head: []string{"seeds", "done after", "seeds a second", "failed", "of 1,000", "properties violated for the first time"}}
	var last ratePoint
	for i, p := range r.points {
		n, failed := p.done-last.done, p.failed-last.failed
		from, to := rep.seeds.first+last.done, rep.seeds.first+p.done
		if i == len(r.points)-1 {
			to = max(to, rep.seeds.first+rep.seeds.count) // for a shard, the last tenth includes the remainder
		}
		var first []string
		for _, v := range rep.sum.Properties {
			if v.FirstSeed >= from && v.FirstSeed < to {
				first = append(first, v.First.Rule())
			}
		}
		if n > 0 {
			seeds := fmt.Sprintf("%d..%d", from, to-1)
			if rep.shard.of > 1 {
				seeds = grouped(n) + " of them"
			}
			t.Rows = append(t.Rows, timeline.Row{Cells: []string{
				seeds, fmt.Sprintf("%.1fs", p.after.Seconds()), perSecond(n, p.after-last.after), grouped(failed), grouped(failed * 1000 / n), strings.Join(first, "; "),
			}, Bad: len(first) > 0})
		}
		last = p
	}
	return t
}
