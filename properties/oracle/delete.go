package oracle

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
)

var deleteRules = []rule{
	on((*State).deleteInstance).counting(), on((*State).deleteAtomic).counting(), on((*State).deleteBulk).counting(),
	on((*State).prune).counting(), on((*State).pruneBulk).counting(),
}

// erase removes instances and everything they own except sessions, and counts what it removed
// (docs/contract/provider.md#p7.2). If keep is true, the worker rows stay but lose their tokens (F28). The state must
// be a clone.
func (s *State) erase(ids []string, keep bool) engine.DeleteInstanceResult {
	var d engine.DeleteInstanceResult
	for _, in := range s.instances {
		if slices.Contains(ids, in.id) {
			d.ExecutionsDeleted += uint64(len(in.executions))
			d.EventsDeleted += uint64(len(in.history))
			if in.row {
				d.InstancesDeleted++
			}
		}
	}
	rows := len(s.queue) + len(s.work)
	s.queue = slices.DeleteFunc(s.queue, func(m message) bool { return slices.Contains(ids, m.instance) })
	theirs := func(w row) bool { a, ok := w.activity(); return ok && slices.Contains(ids, a.Instance) }
	if keep {
		for i := range s.work {
			if w := &s.work[i]; theirs(*w) && w.token != "" {
				w.visible, w.token = w.until.over(w.visible), ""
			}
		}
	} else {
		s.work = slices.DeleteFunc(s.work, theirs)
	}
	d.QueueMessagesDeleted = uint64(rows - len(s.queue) - len(s.work))
	for _, id := range ids {
		s.remove(id)
	}
	return d
}

func (s *State) running(ids []string) bool {
	return slices.ContainsFunc(ids, func(id string) bool { in := s.find(id); return in.row && in.status() == engine.StatusRunning })
}

// erases allows the call to succeed after erasing the ids. The answer's instances_deleted may be as high as most.
func (j *judge) erases(c clause, s *State, ids []string, most int, force bool) {
	for _, keep := range []bool{false, true} {
		if keep && !force || c.freedom != none && !j.grants(c.freedom) {
			break
		}
		if keep {
			c = free(f28SurvivingWork, "7.2")
		}
		n := s.clone()
		want := n.erase(ids, keep)
		hi := max(want.InstancesDeleted, uint64(most))
		got := j.answer.Deleted
		same := got != nil
		if same {
			have := *got
			same = want.InstancesDeleted <= have.InstancesDeleted && have.InstancesDeleted <= hi
			have.InstancesDeleted = want.InstancesDeleted
			same = same && have == want
		}
		same = same || j.anything
		j.allow(c, j.answer.Err == nil && same, func() *State { return n }, "%s, up to %d instances", shown{want}, hi)
		if !same && j.answer.Err == nil {
			j.object(by("7.2", "I17"), "to delete there was %s, up to %d instances", shown{want}, hi)
		}
	}
}

// deleteInstance judges the call against docs/contract/provider.md#p7.2.
func (s *State) deleteInstance(j *judge, r call.DeleteInstance) {
	in := s.find(r.Instance)
	ids := s.tree(r.Instance)
	running := !r.Force && s.running(ids)
	switch {
	case !in.row:
		j.permanent(by("7.2", "I20"), s, "there is no such instance", "not found")
	case in.parent.Instance != "":
		words := []string{"sub-orchestration", "root", "parent"}
		if running {
			words = append(words, "running")
		}
		j.permanent(by("7.2", ""), s, "it is a child", words...)
	case running:
		j.permanent(by("7.2", ""), s, "it, or a descendant, is running", "running")
	default:
		j.erases(by("7.2", "I4 I17"), s, ids, 0, r.Force)
	}
}

// deleteAtomic judges the call against docs/contract/provider.md#p7.2.
func (s *State) deleteAtomic(j *judge, r call.DeleteInstancesAtomic) {
	orphans := func(of func(parent *instance) bool) []string {
		return s.rows(func(in *instance) bool {
			p := in.parent.Instance
			return p != "" && slices.Contains(r.Instances, p) && !slices.Contains(r.Instances, in.id) && of(s.find(p))
		})
	}
	orphan := orphans(func(p *instance) bool { return p.row || !j.grants(xUnknownDeleted) })
	var words []string
	if len(orphan) > 0 {
		words = append(words, "child", "orphan", "tree")
	} else if lost := orphans(func(p *instance) bool { return !p.row }); len(lost) > 0 {
		j.permanent(free(xUnknownDeleted, "7.2"), s, fmt.Sprintf("%v would lose their parent, which does not exist", lost), "child", "orphan", "tree")
	}
	if !r.Force && s.running(r.Instances) {
		words = append(words, "running")
	}
	if len(words) > 0 {
		j.permanent(by("7.2", ""), s, fmt.Sprintf("running without force, or %v would lose their parent", orphan), words...)
		return
	}
	most := len(r.Instances)
	if !j.grants(f15DeletedCount) {
		most = 0
	}
	j.erases(by("7.2", "I4 I17"), s, r.Instances, most, r.Force)
	known := slices.DeleteFunc(slices.Clone(r.Instances), func(id string) bool { return !s.find(id).row })
	if len(known) < len(r.Instances) {
		j.erases(free(xUnknownDeleted, "7.2"), s, known, most, r.Force)
	}
}

// choice is a set of ids, some of which must be taken while others may be.
type choice struct {
	list  []string
	truth []truth
}

func (c *choice) add(id string, t truth) {
	if t.may {
		c.list, c.truth = append(c.list, id), append(c.truth, t)
	}
}

// chosen returns the sets that a call may take. A set has every required id unless the limit is reached first. If the
// argument anything is set, a set may also lack required ids.
func (c *choice) chosen(limit uint64, anything bool) [][]string {
	open := slices.ContainsFunc(c.truth, func(t truth) bool { return !t.must })
	if !anything && !open && uint64(len(c.list)) <= limit {
		return [][]string{c.list}
	}
	n := min(len(c.list), 12)
	var out [][]string
	for set := uint(0); set < 1<<n; set++ {
		taken, missed := []string{}, false
		for i := range n {
			if set&(1<<i) != 0 {
				taken = append(taken, c.list[i])
			} else {
				missed = missed || c.truth[i].must
			}
		}
		size := uint64(bits.OnesCount(set))
		if size <= limit && (!missed || size == limit || anything) {
			out = append(out, taken)
		}
	}
	return out
}

// matching returns the instances that a bulk filter selects. An instance is judged by its current execution
// (docs/contract/provider.md#p7.3 and #p7.4).
func (s *State) matching(f engine.InstanceFilter, which func(in *instance) bool) choice {
	var c choice
	for _, in := range s.instances {
		if !in.row || !which(in) || f.InstanceIDs != nil && !slices.Contains(f.InstanceIDs, in.id) {
			continue
		}
		c.add(in.id, in.execution(in.current).before(f.CompletedBefore))
	}
	return c
}

// before reports whether an execution completed before the cutoff. Without a cutoff, it is true.
func (e *execution) before(cutoff *uint64) truth {
	if cutoff == nil {
		return known(true)
	}
	if e == nil {
		return known(false)
	}
	return e.stamped.and(e.completed.before(At(int64(min(*cutoff, 1<<62)))))
}

func limitOf(f engine.InstanceFilter) uint64 {
	if f.Limit == nil {
		return engine.DefaultBulkLimit
	}
	return *f.Limit
}

// deleteBulk judges the call against docs/contract/provider.md#p7.3.
func (s *State) deleteBulk(j *judge, r call.DeleteInstanceBulk) {
	roots := s.matching(r.Filter, func(in *instance) bool { return in.parent.Instance == "" && in.status().Terminal() })
	failed := j.answer.Err != nil && len(j.next) > 0 // the contract permits a retryable error in this case
	for _, set := range roots.chosen(limitOf(r.Filter), failed) {
		ids := []string{}
		for _, root := range set {
			ids = append(ids, s.tree(root)...)
		}
		if failed {
			j.allow(free(f22BulkAtomicity, "7.3"), true, func() *State { return s.with(func(n *State) { n.erase(ids, false) }) }, "an error after a part")
			continue
		}
		j.erases(by("7.3", "I17"), s, ids, 0, true)
	}
}

// prune judges the call against docs/contract/provider.md#p7.4.
func (s *State) prune(j *judge, r call.PruneExecutions) {
	if !s.find(r.Instance).row {
		j.permanent(by("7.4", "I20"), s, "there is no such instance")
		return
	}
	j.prunes(by("7.4", "I18"), s, []string{r.Instance}, r.Options)
}

// pruneBulk judges the call against docs/contract/provider.md#p7.4.
func (s *State) pruneBulk(j *judge, r call.PruneExecutionsBulk) {
	all := s.matching(r.Filter, func(*instance) bool { return true })
	failed := j.answer.Err != nil && len(j.next) > 0
	for _, ids := range all.chosen(limitOf(r.Filter), failed) {
		if !failed {
			j.prunes(by("7.4", "I18"), s, ids, r.Options)
			continue
		}
		for _, n := range s.pruned(ids, r.Options) {
			j.allow(free(f22BulkAtomicity, "7.4"), true, func() *State { return n.state }, "an error after a part")
		}
	}
}

// pruning is the state after a prune, with the counts of what was removed.
type pruning struct {
	state *State
	count engine.PruneResult
}

// pruned returns the possible states after pruning instances. The executions that must go are gone in all of them;
// those that may go are gone in some.
func (s *State) pruned(ids []string, o engine.PruneOptions) []pruning {
	list := []pruning{{s, engine.PruneResult{InstancesProcessed: uint64(len(ids))}}}
	for _, id := range ids {
		in := s.find(id)
		var old choice
		for i, e := range in.executions {
			kept := o.KeepLast != nil && uint64(len(in.executions)-i) <= *o.KeepLast
			if e.id != in.current && e.status != engine.StatusRunning && !kept {
				old.add(fmt.Sprint(e.id), e.before(o.CompletedBefore))
			}
		}
		var longer []pruning
		for _, set := range old.chosen(1<<62, false) {
			gone := func(execution uint64) bool { return slices.Contains(set, fmt.Sprint(execution)) }
			for _, p := range list {
				p.state = p.state.with(func(n *State) {
					in := n.edit(id)
					events := len(in.history)
					in.executions = slices.DeleteFunc(in.executions, func(e execution) bool { return gone(e.id) })
					in.history = slices.DeleteFunc(in.history, func(h stored) bool { return gone(h.execution) })
					p.count.ExecutionsDeleted += uint64(len(set))
					p.count.EventsDeleted += uint64(events - len(in.history))
				})
				longer = append(longer, p)
			}
		}
		list = longer
	}
	return list
}

// prunes allows the call to succeed after pruning the instances.
func (j *judge) prunes(c clause, s *State, ids []string, o engine.PruneOptions) {
	for _, p := range s.pruned(ids, o) {
		same := j.answer.Pruned != nil && *j.answer.Pruned == p.count || j.anything
		if !same && j.answer.Err == nil {
			j.object(c, "to prune there was %s", shown{p.count})
		}
		j.allow(c, j.answer.Err == nil && same, func() *State { return p.state }, "%s", shown{p.count})
	}
}
