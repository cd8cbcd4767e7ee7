package conformance_test

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	calls "github.com/durosim/durosim/engine/call"
)

// call is a call in progress. It has the method, its arguments, and its answer once do has been called.
type call struct {
	method string
	inner  engine.Provider
	do     func() // makes the call with the current arguments

	ctx                       context.Context
	instance, token, key      string
	execution, seen           uint64
	item                      engine.WorkItem
	ack                       engine.OrchestrationAck
	delay, lock, poll, extend time.Duration
	idle                      time.Duration
	ignore, force             bool
	filter                    *engine.CapabilityFilter
	session                   *engine.SessionFetchConfig
	tags                      engine.TagFilter
	owners                    []string
	status                    engine.Status
	which                     engine.InstanceFilter
	options                   engine.PruneOptions

	err     error
	fetched *engine.FetchedOrchestration
	work    *engine.FetchedWork
	events  []engine.Event // the answer's events, or an argument of AppendWithExecution
	count   int
	custom  *engine.CustomStatus
	value   *string
	pairs   []engine.KVPair
	stats   *engine.SystemStats
	names   []string // the answer's names, or an argument of DeleteInstancesAtomic
	ids     []uint64
	parent  string
	info    *engine.InstanceInfo
	about   *engine.ExecutionInfo
	metrics *engine.SystemMetrics
	depths  *engine.QueueDepths
	tree    *engine.InstanceTree
	deleted *engine.DeleteInstanceResult
	pruned  *engine.PruneResult
}

// is reports whether the call is to one of the given methods.
func (c *call) is(methods ...string) bool { return slices.Contains(methods, c.method) }

// wrong returns a provider with a mistake. Every call passes through spoil, which may change the call's arguments, make
// the call with do or skip it, and change its answer.
func wrong(p engine.Provider, spoil func(c *call)) engine.Provider {
	return calls.Through(p.Name(), p.Version(), p.Admin() != nil, func(ctx context.Context, made calls.Call) (a calls.Answer) {
		c := &call{method: reflect.TypeOf(made).Name(), inner: p, ctx: ctx}
		places := c.places()
		switch made.(type) {
		case calls.AckOrchestrationItem:
			places["LockToken"], places["ExecutionID"] = &c.ack.LockToken, &c.ack.ExecutionID
		case calls.DeleteInstanceBulk, calls.PruneExecutionsBulk:
			places["Filter"] = &c.which
		}
		arguments := reflect.New(reflect.TypeOf(made)).Elem()
		arguments.Set(reflect.ValueOf(made))
		taken := map[any]bool{} // the places of arguments
		each(arguments, places, func(argument, place reflect.Value) {
			place.Set(argument)
			taken[place.Addr().Interface()] = true
		})
		c.do = func() {
			each(arguments, places, func(argument, place reflect.Value) { argument.Set(place) })
			a = calls.Perform(c.ctx, p, arguments.Interface().(calls.Call))
			each(reflect.ValueOf(&a).Elem(), places, func(answer, place reflect.Value) {
				if !taken[place.Addr().Interface()] {
					place.Set(answer)
				}
			})
		}
		spoil(c)
		each(reflect.ValueOf(&a).Elem(), places, func(answer, place reflect.Value) { answer.Set(place) })
		return a
	})
}

// each calls f with each field of a call or an answer, and its place.
func each(v reflect.Value, places map[string]any, f func(field, place reflect.Value)) {
	for i := range v.NumField() {
		f(v.Field(i), reflect.ValueOf(places[v.Type().Field(i).Name]).Elem())
	}
}

// places returns the fields by their names in package call.
func (c *call) places() map[string]any {
	return map[string]any{
		"Instance": &c.instance, "LockToken": &c.token, "Key": &c.key, "ExecutionID": &c.execution, "LastSeen": &c.seen, "Item": &c.item,
		"Completion": &c.item, "Delay": &c.delay, "LockTimeout": &c.lock, "PollTimeout": &c.poll, "ExtendFor": &c.extend, "IdleTimeout": &c.idle,
		"IgnoreAttempt": &c.ignore, "Force": &c.force, "Filter": &c.filter, "Session": &c.session, "Tags": &c.tags, "Owners": &c.owners,
		"Status": &c.status, "Options": &c.options, "Instances": &c.names,

		"HistoryDelta": &c.ack.HistoryDelta, "WorkerItems": &c.ack.WorkerItems, "OrchestratorItems": &c.ack.OrchestratorItems,
		"Metadata": &c.ack.Metadata, "CancelledActivities": &c.ack.CancelledActivities,

		"Err": &c.err, "Orchestration": &c.fetched, "Work": &c.work, "Events": &c.events, "Count": &c.count, "CustomStatus": &c.custom,
		"Value": &c.value, "Pairs": &c.pairs, "Stats": &c.stats, "IDs": &c.names, "Executions": &c.ids, "Latest": &c.execution,
		"Parent": &c.parent, "Info": &c.info, "Execution": &c.about, "Metrics": &c.metrics, "Depths": &c.depths, "Tree": &c.tree,
		"Deleted": &c.deleted, "Pruned": &c.pruned,
	}
}
