package safety

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
)

// This file continues S26 with what operators are told about an instance, and about all of them.

// current returns the execution that the instance's row points to, or nil if that has no row.
func current(in *model.Instance) *model.Execution {
	for _, ex := range in.Executions {
		if ex.ID == in.CurrentID && ex.Created {
			return ex
		}
	}
	return nil
}

func statusOf(in *model.Instance) engine.Status {
	if ex := current(in); ex != nil {
		return ex.Status
	}
	return ""
}

// info judges an instance's description. Times are free, and so is a status that no row has.
func (k *readsChecker) info(r *cluster.Record, no observe.InstanceNo) {
	in := k.Run.Model.Instance(no)
	if !in.Created {
		if r.Err == nil {
			k.report(r, no, "is told of an instance that does not exist: expected an error")
		}
		return
	}
	if r.Err != nil || r.Looked.Info == nil {
		k.report(r, no, "is not told of the instance (error: %v): expected its description", r.Err)
		return
	}
	got := *r.Looked.Info
	want := engine.InstanceInfo{
		InstanceID: in.Name, OrchestrationName: in.Orchestration, OrchestrationVersion: cmp.Or(in.Version, "unknown"), CurrentExecutionID: in.CurrentID,
		Status: got.Status, ParentInstanceID: in.Parent.Instance, CreatedAt: got.CreatedAt, UpdatedAt: got.UpdatedAt, Output: got.Output,
	}
	output := ""
	if got.Output != nil {
		output = *got.Output
	}
	if ex := current(in); ex != nil {
		if want.Status = ex.Status; output != ex.Output {
			k.report(r, no, "reads the output %q of execution %d, which is %s with the output %q", output, ex.ID, ex.Status, ex.Output)
		}
	}
	if got != want {
		k.report(r, no, "is told of %s %s, execution %d, %s, parent %q: expected %s %s, execution %d, %s, parent %q",
			got.OrchestrationName, got.OrchestrationVersion, got.CurrentExecutionID, got.Status, got.ParentInstanceID,
			want.OrchestrationName, want.OrchestrationVersion, want.CurrentExecutionID, want.Status, want.ParentInstanceID)
	}
}

// status judges a read of any custom status above version 0.
func (k *readsChecker) status(r *cluster.Record, no observe.InstanceNo) {
	v, got := &k.Run.Model.Instance(no).Values, r.Looked.CustomStatus
	switch {
	case r.Err == nil && got == nil && v.CustomVersion == 0:
	case r.Err != nil || got == nil || v.CustomVersion == 0 || got.Version != v.CustomVersion || !model.SameText(got.Status, v.CustomStatus):
		told, want := "nothing", "nothing"
		if got != nil {
			told = versioned(got.Version, got.Status)
		}
		if v.CustomVersion > 0 {
			want = versioned(v.CustomVersion, v.CustomStatus)
		}
		k.report(r, no, "reads the custom status as %s (error: %v): expected %s", told, r.Err, want)
	}
}

func versioned(version uint64, status *string) string {
	return fmt.Sprintf("version %d, %s", version, model.TextOf(status))
}

// totals judges the numbers of instances, executions and events.
func (k *readsChecker) totals(r *cluster.Record) {
	var want engine.SystemMetrics
	for no := 1; no <= k.Run.Model.InstanceCount(); no++ {
		in := k.Run.Model.Instance(observe.InstanceNo(no))
		for _, ex := range in.Executions {
			want.TotalEvents += uint64(len(ex.Events))
			if ex.Created {
				want.TotalExecutions++
			}
		}
		if !in.Created {
			continue
		}
		want.TotalInstances++
		switch statusOf(in) {
		case engine.StatusRunning:
			want.RunningInstances++
		case engine.StatusCompleted:
			want.CompletedInstances++
		case engine.StatusFailed:
			want.FailedInstances++
		}
	}
	var got engine.SystemMetrics
	if r.Looked.Metrics != nil {
		got = *r.Looked.Metrics
	}
	if r.Err != nil || got != want {
		k.report(r, 0, "reads the totals %+v (error: %v): expected %+v", got, r.Err, want)
	}
}

func namesText(names []string) string {
	if len(names) == 0 {
		return "(none)"
	}
	return strings.Join(names, ", ")
}
