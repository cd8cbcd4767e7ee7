package memprovider

import (
	"cmp"
	"context"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
)

// observed runs a management method as an observed call. Methods that return a list list instances in the order in
// which the store first heard of them (F11), and the caller owns the list.
func observed[T any](p *provider, method, instance string, do func(s *Store) (T, *engine.ProviderError)) (T, error) {
	return forced(p, method, instance, false, do)
}

// forced is like observed, for methods that take a force flag.
func forced[T any](p *provider, method, instance string, force bool, do func(s *Store) (T, *engine.ProviderError)) (T, error) {
	s := p.store
	req := s.begin(observe.CallAdmin, p.caller)
	req.Admin, req.Instance, req.Force = method, instance, force
	s.started()
	v, err := do(s)
	if err != nil {
		v = *new(T)
	}
	return v, s.end(result{}, err)
}

func notFound(op, what, name string) *engine.ProviderError {
	return engine.Permanentf(op, "%s %q not found", what, name)
}

// listInstances returns the names of all created instances that match.
func (s *Store) listInstances(match func(in *instance) bool) []string {
	var names []string
	for _, in := range s.instances {
		if in.meta.created && match(in) {
			names = append(names, in.name)
		}
	}
	return names
}

// ListInstances implements engine.ProviderAdmin.
func (p *provider) ListInstances(context.Context) ([]string, error) {
	return observed(p, "list_instances", "", func(s *Store) ([]string, *engine.ProviderError) {
		return s.listInstances(func(*instance) bool { return true }), nil
	})
}

// ListInstancesByStatus implements engine.ProviderAdmin.
func (p *provider) ListInstancesByStatus(_ context.Context, status engine.Status) ([]string, error) {
	return observed(p, "list_instances_by_status", "", func(s *Store) ([]string, *engine.ProviderError) {
		return s.listInstances(func(in *instance) bool {
			ex := in.currentRow()
			return ex != nil && ex.state.status == status
		}), nil
	})
}

// currentRow returns the current execution, or nil if it has no row.
func (in *instance) currentRow() *execution {
	if ex := in.execution(in.meta.current); ex != nil && ex.state.created {
		return ex
	}
	return nil
}

// ListExecutions implements engine.ProviderAdmin.
func (p *provider) ListExecutions(_ context.Context, instance string) ([]uint64, error) {
	return observed(p, "list_executions", instance, func(s *Store) ([]uint64, *engine.ProviderError) {
		var ids []uint64
		if in := s.known(instance); in != nil {
			for _, ex := range in.executions {
				if ex.state.created {
					ids = append(ids, ex.id)
				}
			}
		}
		return ids, nil
	})
}

// LatestExecutionID implements engine.ProviderAdmin.
func (p *provider) LatestExecutionID(_ context.Context, instance string) (uint64, error) {
	return observed(p, "latest_execution_id", instance, func(s *Store) (uint64, *engine.ProviderError) {
		if in := s.known(instance); in != nil {
			return in.latest(), nil
		}
		return engine.InitialExecutionID, nil
	})
}

// GetInstanceInfo implements engine.ProviderAdmin. If the current execution has no row, the status is Unknown (F16).
// UpdatedAt is the last change of the instances row itself (F12).
func (p *provider) GetInstanceInfo(_ context.Context, instance string) (*engine.InstanceInfo, error) {
	return observed(p, "get_instance_info", instance, func(s *Store) (*engine.InstanceInfo, *engine.ProviderError) {
		in := s.known(instance)
		if in == nil || !in.meta.created {
			return nil, notFound("get_instance_info", "instance", instance)
		}
		m := &in.meta
		info := &engine.InstanceInfo{
			InstanceID: in.name, OrchestrationName: m.orchestration, OrchestrationVersion: cmp.Or(m.version, unknownVersion),
			CurrentExecutionID: m.current, Status: "Unknown", CreatedAt: uint64(m.createdMs), UpdatedAt: uint64(m.updatedMs),
			ParentInstanceID: m.parent.Instance,
		}
		if ex := in.currentRow(); ex != nil {
			info.Status, info.Output = ex.state.status, ex.state.output
		}
		return info, nil
	})
}

// GetExecutionInfo implements engine.ProviderAdmin.
func (p *provider) GetExecutionInfo(_ context.Context, instance string, executionID uint64) (*engine.ExecutionInfo, error) {
	return observed(p, "get_execution_info", instance, func(s *Store) (*engine.ExecutionInfo, *engine.ProviderError) {
		ex := s.executionOf(instance, executionID)
		if ex == nil || !ex.state.created {
			return nil, notFound("get_execution_info", "execution of", instance)
		}
		info := &engine.ExecutionInfo{
			ExecutionID: ex.id, Status: ex.state.status, Output: ex.state.output, StartedAt: uint64(ex.state.startedMs),
			EventCount: uint64(len(ex.events)), PinnedVersion: ex.pin,
		}
		if ex.state.completed {
			at := uint64(ex.state.completedMs)
			info.CompletedAt = &at
		}
		return info, nil
	})
}

// GetSystemMetrics implements engine.ProviderAdmin.
func (p *provider) GetSystemMetrics(context.Context) (*engine.SystemMetrics, error) {
	return observed(p, "get_system_metrics", "", func(s *Store) (*engine.SystemMetrics, *engine.ProviderError) {
		m := &engine.SystemMetrics{}
		for _, in := range s.instances {
			for _, ex := range in.executions {
				m.TotalEvents += uint64(len(ex.events))
				if ex.state.created {
					m.TotalExecutions++
				}
			}
			if !in.meta.created {
				continue
			}
			m.TotalInstances++
			if ex := in.currentRow(); ex != nil {
				switch ex.state.status {
				case engine.StatusRunning:
					m.RunningInstances++
				case engine.StatusCompleted:
					m.CompletedInstances++
				case engine.StatusFailed:
					m.FailedInstances++
				}
			}
		}
		return m, nil
	})
}

// GetQueueDepths implements engine.ProviderAdmin. It counts every message that no live lock holds. This includes
// messages of expired and abandoned locks (F6) and messages that arrived while their instance was locked.
func (p *provider) GetQueueDepths(context.Context) (*engine.QueueDepths, error) {
	return observed(p, "get_queue_depths", "", func(s *Store) (*engine.QueueDepths, *engine.ProviderError) {
		d := &engine.QueueDepths{}
		for _, in := range s.instances {
			d.OrchestratorQueue += uint64(s.free(in, in.visible) + s.free(in, in.delayed))
			for _, r := range in.work {
				if !r.lock.live(s.now) {
					d.WorkerQueue++
				}
			}
		}
		return d, nil
	})
}

// free counts the messages that are not held by their instance's live lock.
func (s *Store) free(in *instance, rows []*row) int {
	n := 0
	for _, r := range rows {
		n += countIf(!in.lock.live(s.now) || r.lock.number != in.lock.number)
	}
	return n
}
