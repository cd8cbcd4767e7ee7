package memprovider

import (
	"context"
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
)

const (
	opDelete       = "delete_instance"
	opDeleteAtomic = "delete_instances_atomic"
	opDeleteBulk   = "delete_instance_bulk"
)

// DeleteInstance implements engine.ProviderAdmin. The instance must be a root, and its whole tree is deleted. Sessions
// are kept.
func (p *provider) DeleteInstance(_ context.Context, instance string, force bool) (*engine.DeleteInstanceResult, error) {
	return forced(p, opDelete, instance, force, func(s *Store) (*engine.DeleteInstanceResult, *engine.ProviderError) {
		in := s.known(instance)
		switch {
		case in == nil || !in.meta.created:
			return nil, notFound(opDelete, "instance", instance)
		case in.meta.parent.Instance != "":
			return nil, engine.Permanentf(opDelete, "instance %q is a sub-orchestration; delete the root of its tree (its parent is %q)",
				instance, in.meta.parent.Instance)
		}
		r := &engine.DeleteInstanceResult{}
		return r, s.deleteAll(opDelete, s.tree(instance), force, r)
	})
}

// DeleteInstancesAtomic implements engine.ProviderAdmin. It ignores unknown ids and counts repeated ones once (F15).
func (p *provider) DeleteInstancesAtomic(_ context.Context, instances []string, force bool) (*engine.DeleteInstanceResult, error) {
	return forced(p, opDeleteAtomic, "", force, func(s *Store) (*engine.DeleteInstanceResult, *engine.ProviderError) {
		r := &engine.DeleteInstanceResult{}
		return r, s.deleteAll(opDeleteAtomic, instances, force, r)
	})
}

// DeleteInstanceBulk implements engine.ProviderAdmin. It processes roots in the order in which the store first heard of
// them (F11).
func (p *provider) DeleteInstanceBulk(_ context.Context, filter engine.InstanceFilter) (*engine.DeleteInstanceResult, error) {
	return observed(p, opDeleteBulk, "", func(s *Store) (*engine.DeleteInstanceResult, *engine.ProviderError) {
		total := &engine.DeleteInstanceResult{}
		roots := s.matching(filter, func(in *instance) bool {
			ex := in.currentRow()
			return in.meta.parent.Instance == "" && ex != nil && ex.state.status.Terminal()
		})
		for _, in := range roots {
			if err := s.deleteAll(opDeleteBulk, s.tree(in.name), true, total); err != nil {
				return nil, err
			}
		}
		return total, nil
	})
}

// matching returns the created instances that both the bulk filter and match accept, ordered by number.
func (s *Store) matching(filter engine.InstanceFilter, match func(in *instance) bool) []*instance {
	candidates := s.instances
	if filter.InstanceIDs != nil {
		candidates = s.listed(filter.InstanceIDs)
	}
	limit := uint64(engine.DefaultBulkLimit)
	if filter.Limit != nil {
		limit = *filter.Limit
	}
	var found []*instance
	for _, in := range candidates {
		if uint64(len(found)) >= limit {
			break
		}
		if !in.meta.created || !match(in) {
			continue
		}
		if filter.CompletedBefore != nil {
			if ex := in.currentRow(); ex == nil || !ex.completedBefore(*filter.CompletedBefore) {
				continue
			}
		}
		found = append(found, in)
	}
	return found
}

// completedBefore reports whether the execution has a completion time before ms.
func (ex *execution) completedBefore(ms uint64) bool {
	return ex.state.completed && uint64(max(ex.state.completedMs, 0)) < ms
}

// listed returns the known instances with the given names, without duplicates, ordered by number.
func (s *Store) listed(names []string) []*instance {
	var list []*instance
	for _, name := range names {
		if in := s.known(name); in != nil {
			list = append(list, in)
		}
	}
	slices.SortFunc(list, byInstance)
	return slices.Compact(list)
}

// deleteAll deletes all of the instances, or none if any of them or of their children may not be deleted. It adds what
// it removed to the counts in r.
func (s *Store) deleteAll(op string, names []string, force bool, r *engine.DeleteInstanceResult) *engine.ProviderError {
	list := s.listed(names)
	for _, in := range list {
		if s.rules.RefusesDelete(force, s.seesRunning(in)) {
			return engine.Permanentf(op, "instance %q is running: end it first, or force the deletion", in.name)
		}
		for _, child := range s.childrenOf[in.name] {
			if _, found := slices.BinarySearchFunc(list, child, byInstance); !found && s.rules.RefusesOrphans {
				return engine.Permanentf(op, "deleting %q would orphan its child %q: delete the whole tree", in.name, child.name)
			}
		}
	}
	for _, in := range list {
		s.delete(in, r)
	}
	return nil
}

func byInstance(a, b *instance) int { return int(a.no) - int(b.no) }

// delete removes everything that the store holds for the instance and adds what it removed to the counts in r.
func (s *Store) delete(in *instance, r *engine.DeleteInstanceResult) {
	for _, step := range s.rules.DeleteSteps {
		switch step {
		case DeleteMessages:
			for _, rows := range []*[]*row{&in.visible, &in.delayed} {
				for len(*rows) > 0 {
					s.remove((*rows)[0], observe.RemovedDeleted)
					r.QueueMessagesDeleted++
				}
			}
		case DeleteWork:
			for len(in.work) > 0 {
				s.remove(in.work[0], observe.RemovedDeleted)
				r.QueueMessagesDeleted++
			}
		case DeleteHistory:
			for len(in.executions) > 0 {
				s.removeExecution(in, in.executions[len(in.executions)-1], &r.ExecutionsDeleted, &r.EventsDeleted)
			}
		case DeleteKV:
			s.emptyKV(in)
		case DeleteLock:
			s.releaseLock(in)
		case DeleteRow:
			if in.meta.created {
				r.InstancesDeleted++
				s.removeRow(in)
			}
		default:
			panic(fmt.Sprintf("memprovider: unknown step %d of a deletion", step))
		}
	}
}

// emptyKV removes all rows from both key-value tables.
func (s *Store) emptyKV(in *instance) {
	if in.kv == nil {
		return
	}
	for _, t := range [...]observe.KVTable{observe.KVStore, observe.KVDelta} {
		for rows := in.kv.table(t); len(*rows) > 0; {
			s.setKV(in, t, (*rows)[len(*rows)-1], false)
		}
	}
	in.kv = nil
}
