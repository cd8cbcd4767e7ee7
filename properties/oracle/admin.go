package oracle

import (
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
)

var adminRules = []rule{
	on(func(s *State, j *judge, _ call.ListInstances) {
		j.list(s, j.answer.IDs, s.rows(func(*instance) bool { return true }))
	}),
	on(func(s *State, j *judge, r call.ListInstancesByStatus) {
		j.list(s, j.answer.IDs, s.rows(func(in *instance) bool { return in.execution(in.current) != nil && in.status() == r.Status }))
	}),
	on(func(s *State, j *judge, r call.ListChildren) {
		j.list(s, j.answer.IDs, s.rows(func(in *instance) bool { return r.Instance != "" && in.parent.Instance == r.Instance }))
	}),
	on((*State).listExecutions), on((*State).latestExecution), on((*State).instanceInfo),
	on((*State).executionInfo), on((*State).metrics), on((*State).depths), on((*State).parentID), on((*State).instanceTree),
	on(func(s *State, j *judge, r call.ReadHistory) { s.read(j, "7", r.Instance, s.find(r.Instance).latest()) }),
	on(func(s *State, j *judge, r call.ReadHistoryWithExecutionID) { s.read(j, "7", r.Instance, r.ExecutionID) }),
}

// rows returns the ids of the instances that have a row and satisfy the condition, in order.
func (s *State) rows(which func(in *instance) bool) []string {
	ids := []string{}
	for _, in := range s.instances {
		if in.row && which(in) {
			ids = append(ids, in.id)
		}
	}
	return ids
}

// list judges a list of ids, which may come in any order (F11).
func (j *judge) list(s *State, got, want []string) {
	sorted := slices.Clone(got)
	slices.Sort(sorted)
	want = slices.Clone(want)
	slices.Sort(want)
	same := slices.Equal(sorted, want)
	j.reads(by("7", "I17 I20"), s, same, want, by("7", "I17 I20"), "the ids are %s, in any order", shown{want})
}

func (s *State) instanceTree(j *judge, r call.GetInstanceTree) {
	var got []string
	if t := j.answer.Tree; t != nil && t.RootID == r.Instance {
		got = t.AllIDs
	}
	j.list(s, got, s.tree(r.Instance))
}

func (s *State) tree(root string) []string {
	all := []string{root}
	for i := 0; i < len(all); i++ {
		for _, id := range s.rows(func(in *instance) bool { return in.parent.Instance == all[i] }) {
			if !slices.Contains(all, id) {
				all = append(all, id)
			}
		}
	}
	return all
}

func (s *State) listExecutions(j *judge, r call.ListExecutions) {
	want := []uint64{}
	for _, e := range s.find(r.Instance).executions {
		want = append(want, e.id)
	}
	same := slices.Equal(j.answer.Executions, want)
	j.reads(by("7", "I9 I20"), s, same, want, by("7", "I9 I17 I18 I20"), "the executions are %v", want)
}

func (s *State) latestExecution(j *judge, r call.LatestExecutionID) {
	want := s.find(r.Instance).latest()
	j.reads(by("7", "I9"), s, j.answer.Latest == want, want, by("7", "I9"), "the largest execution id is %d", want)
}

func (s *State) parentID(j *judge, r call.GetParentID) {
	in := s.find(r.Instance)
	if !in.row {
		j.permanent(by("7", "I17 I20"), s, "there is no such instance")
		return
	}
	j.result(by("7", ""), s, j.answer.Parent == in.parent.Instance, in.parent.Instance)
}

func (s *State) instanceInfo(j *judge, r call.GetInstanceInfo) {
	in, got := s.find(r.Instance), j.answer.Info
	if !in.row {
		j.permanent(by("7", "I17 I20"), s, "there is no such instance", "not found")
		return
	}
	want := engine.InstanceInfo{
		InstanceID: in.id, OrchestrationName: in.name, OrchestrationVersion: orUnknown(in.version), CurrentExecutionID: in.current,
		ParentInstanceID: in.parent.Instance,
	}
	if e := in.execution(in.current); e != nil {
		want.Status, want.Output = e.status, e.output
	}
	same := got != nil
	if same {
		have := *got
		have.CreatedAt, have.UpdatedAt = 0, 0 // F12
		if in.half {                          // F20
			have.OrchestrationName, have.OrchestrationVersion = want.OrchestrationName, want.OrchestrationVersion
		}
		if in.execution(in.current) == nil && j.grants(f16UnknownStatus) {
			have.Status = ""
		}
		same = sameText(have.Output, want.Output)
		have.Output = want.Output
		same = same && have == want
	}
	j.reads(by("7", "I9"), s, same, want, by("7", "I9 I17"), "the instance is %s", shown{want})
}

func (s *State) executionInfo(j *judge, r call.GetExecutionInfo) {
	in, got := s.find(r.Instance), j.answer.Execution
	e := in.execution(r.ExecutionID)
	if e == nil {
		j.permanent(by("7", "I17 I20"), s, "there is no such execution", "not found")
		return
	}
	events := uint64(len(in.events(r.ExecutionID)))
	completed := fmt.Sprintf("%s ms", e.completed)
	switch {
	case !e.stamped.may:
		completed = "no time"
	case !e.stamped.must:
		completed += " or at no time"
	}
	want := fmt.Sprintf("execution %d: %s, output %s, %d events, completed at %s, pinned_version, if any, %s", e.id, e.status, shown{e.output}, events, completed, shown{e.pin})
	differs := ""
	differ := func(field string, same bool, want, got any) {
		if !same && differs == "" {
			differs = fmt.Sprintf("expected %s %v, got %v", field, want, got)
		}
	}
	if got == nil {
		differs = "got nothing"
	} else {
		differ("execution_id", got.ExecutionID == e.id, e.id, got.ExecutionID)
		differ("status", got.Status == e.status, e.status, got.Status)
		differ("output", sameText(got.Output, e.output), shown{e.output}, shown{got.Output})
		differ("event_count", got.EventCount == events, events, got.EventCount)
		if p := got.PinnedVersion; p != nil { // The pin is not in the contract; durosim adds it.
			differ("pinned_version", e.pin != nil && p.Triple() == e.pin.Triple(), shown{e.pin}, shown{p})
		}
		if at := got.CompletedAt; at == nil {
			differ("completed_at", !e.stamped.must, completed, "no time")
		} else {
			differ("completed_at", e.stamped.may && e.completed.Lo <= int64(*at) && int64(*at) <= e.completed.Hi, completed, *at)
		}
	}
	same := differs == ""
	if !same && j.answer.Err == nil {
		j.object(by("7", "I7 I18"), "it is execution %d: %s", e.id, differs)
	}
	j.allow(by("7", "I7"), j.answer.Err == nil && same, func() *State { return s }, "%s", want)
}

func (s *State) metrics(j *judge, _ call.GetSystemMetrics) {
	var want engine.SystemMetrics
	for _, in := range s.instances {
		want.TotalExecutions += uint64(len(in.executions))
		want.TotalEvents += uint64(len(in.history))
		if !in.row {
			continue
		}
		want.TotalInstances++
		switch in.status() {
		case engine.StatusRunning:
			want.RunningInstances++
		case engine.StatusCompleted:
			want.CompletedInstances++
		case engine.StatusFailed:
			want.FailedInstances++
		}
	}
	same := j.answer.Metrics != nil && *j.answer.Metrics == want
	j.reads(by("7", "I17 I20"), s, same, want, by("7", "I17 I20"), "the totals are %s", shown{want})
}

// depths judges queue depths against docs/contract/provider.md#p7.1. Rows under a live lock are not counted. Rows that
// are marked but not locked may be counted or not (F6).
func (s *State) depths(j *judge, _ call.GetQueueDepths) {
	var least, most engine.QueueDepths
	add := func(least, most *uint64, marked bool, live truth) {
		free := !marked || !live.may && !j.grants(f6Depths)
		if free {
			*least++
		}
		if !marked || !live.must {
			*most++
		}
	}
	for i := range s.queue {
		m := &s.queue[i]
		live := known(false)
		if l := s.find(m.instance).lock; l != nil && l.token == m.mark {
			live = l.until.reached(j.at).not()
		}
		add(&least.OrchestratorQueue, &most.OrchestratorQueue, m.mark != "", live)
	}
	for i := range s.work {
		w := &s.work[i]
		add(&least.WorkerQueue, &most.WorkerQueue, w.token != "", w.until.reached(j.at).not())
	}
	got := j.answer.Depths
	between := func(n, lo, hi uint64) bool { return lo <= n && n <= hi }
	same := got != nil && between(got.OrchestratorQueue, least.OrchestratorQueue, most.OrchestratorQueue) &&
		between(got.WorkerQueue, least.WorkerQueue, most.WorkerQueue) && got.TimerQueue == 0
	if !same && j.answer.Err == nil {
		j.object(by("7.1", "I10 I17"), "not between %s and %s", shown{least}, shown{most})
	}
	j.allow(by("7.1", "I10 I17"), j.answer.Err == nil && same, func() *State { return s }, "from %s to %s", shown{least}, shown{most})
}
