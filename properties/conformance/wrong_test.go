package conformance_test

import (
	"context"
	"time"

	"github.com/durosim/durosim/engine"
)

// wrong is a provider with a mistake. Every call passes through spoil, which may change the call's arguments, make the
// call with do or skip it, and change its answer.
type wrong struct {
	engine.Provider
	spoil func(c *call)
}

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
func (c *call) is(methods ...string) bool {
	for _, m := range methods {
		if c.method == m {
			return true
		}
	}
	return false
}

func (p wrong) call(ctx context.Context, method string, c *call, do func()) {
	c.method, c.inner, c.ctx, c.do = method, p.Provider, ctx, do
	p.spoil(c)
}

// Admin returns the management surface, which has the same mistake.
func (p wrong) Admin() engine.ProviderAdmin { return wrongAdmin{p.Provider.Admin(), p} }

type wrongAdmin struct {
	engine.ProviderAdmin
	p wrong
}

func (p wrong) EnqueueForOrchestrator(ctx context.Context, item engine.WorkItem, delay time.Duration) error {
	c := &call{item: item, delay: delay}
	p.call(ctx, "EnqueueForOrchestrator", c, func() { c.err = p.Provider.EnqueueForOrchestrator(c.ctx, c.item, c.delay) })
	return c.err
}

func (p wrong) FetchOrchestrationItem(ctx context.Context, lock, poll time.Duration, filter *engine.CapabilityFilter) (*engine.FetchedOrchestration, error) {
	c := &call{lock: lock, poll: poll, filter: filter}
	p.call(ctx, "FetchOrchestrationItem", c, func() { c.fetched, c.err = p.Provider.FetchOrchestrationItem(c.ctx, c.lock, c.poll, c.filter) })
	return c.fetched, c.err
}

func (p wrong) AckOrchestrationItem(ctx context.Context, ack engine.OrchestrationAck) error {
	c := &call{ack: ack}
	p.call(ctx, "AckOrchestrationItem", c, func() { c.err = p.Provider.AckOrchestrationItem(c.ctx, c.ack) })
	return c.err
}

func (p wrong) AbandonOrchestrationItem(ctx context.Context, token string, delay time.Duration, ignore bool) error {
	c := &call{token: token, delay: delay, ignore: ignore}
	p.call(ctx, "AbandonOrchestrationItem", c, func() { c.err = p.Provider.AbandonOrchestrationItem(c.ctx, c.token, c.delay, c.ignore) })
	return c.err
}

func (p wrong) RenewOrchestrationItemLock(ctx context.Context, token string, extend time.Duration) error {
	c := &call{token: token, extend: extend}
	p.call(ctx, "RenewOrchestrationItemLock", c, func() { c.err = p.Provider.RenewOrchestrationItemLock(c.ctx, c.token, c.extend) })
	return c.err
}

func (p wrong) Read(ctx context.Context, instance string) ([]engine.Event, error) {
	c := &call{instance: instance}
	p.call(ctx, "Read", c, func() { c.events, c.err = p.Provider.Read(c.ctx, c.instance) })
	return c.events, c.err
}

func (p wrong) ReadWithExecution(ctx context.Context, instance string, execution uint64) ([]engine.Event, error) {
	c := &call{instance: instance, execution: execution}
	p.call(ctx, "ReadWithExecution", c, func() { c.events, c.err = p.Provider.ReadWithExecution(c.ctx, c.instance, c.execution) })
	return c.events, c.err
}

func (p wrong) AppendWithExecution(ctx context.Context, instance string, execution uint64, events []engine.Event) error {
	c := &call{instance: instance, execution: execution, events: events}
	p.call(ctx, "AppendWithExecution", c, func() { c.err = p.Provider.AppendWithExecution(c.ctx, c.instance, c.execution, c.events) })
	return c.err
}

func (p wrong) EnqueueForWorker(ctx context.Context, item engine.WorkItem) error {
	c := &call{item: item}
	p.call(ctx, "EnqueueForWorker", c, func() { c.err = p.Provider.EnqueueForWorker(c.ctx, c.item) })
	return c.err
}

func (p wrong) FetchWorkItem(ctx context.Context, lock, poll time.Duration, session *engine.SessionFetchConfig, tags engine.TagFilter) (*engine.FetchedWork, error) {
	c := &call{lock: lock, poll: poll, session: session, tags: tags}
	p.call(ctx, "FetchWorkItem", c, func() { c.work, c.err = p.Provider.FetchWorkItem(c.ctx, c.lock, c.poll, c.session, c.tags) })
	return c.work, c.err
}

func (p wrong) AckWorkItem(ctx context.Context, token string, item engine.WorkItem) error {
	c := &call{token: token, item: item}
	p.call(ctx, "AckWorkItem", c, func() { c.err = p.Provider.AckWorkItem(c.ctx, c.token, c.item) })
	return c.err
}

func (p wrong) RenewWorkItemLock(ctx context.Context, token string, extend time.Duration) error {
	c := &call{token: token, extend: extend}
	p.call(ctx, "RenewWorkItemLock", c, func() { c.err = p.Provider.RenewWorkItemLock(c.ctx, c.token, c.extend) })
	return c.err
}

func (p wrong) AbandonWorkItem(ctx context.Context, token string, delay time.Duration, ignore bool) error {
	c := &call{token: token, delay: delay, ignore: ignore}
	p.call(ctx, "AbandonWorkItem", c, func() { c.err = p.Provider.AbandonWorkItem(c.ctx, c.token, c.delay, c.ignore) })
	return c.err
}

func (p wrong) RenewSessionLock(ctx context.Context, owners []string, extend, idle time.Duration) (int, error) {
	c := &call{owners: owners, extend: extend, idle: idle}
	p.call(ctx, "RenewSessionLock", c, func() { c.count, c.err = p.Provider.RenewSessionLock(c.ctx, c.owners, c.extend, c.idle) })
	return c.count, c.err
}

func (p wrong) CleanupOrphanedSessions(ctx context.Context, idle time.Duration) (int, error) {
	c := &call{idle: idle}
	p.call(ctx, "CleanupOrphanedSessions", c, func() { c.count, c.err = p.Provider.CleanupOrphanedSessions(c.ctx, c.idle) })
	return c.count, c.err
}

func (p wrong) GetCustomStatus(ctx context.Context, instance string, seen uint64) (*engine.CustomStatus, error) {
	c := &call{instance: instance, seen: seen}
	p.call(ctx, "GetCustomStatus", c, func() { c.custom, c.err = p.Provider.GetCustomStatus(c.ctx, c.instance, c.seen) })
	return c.custom, c.err
}

func (p wrong) GetKVValue(ctx context.Context, instance, key string) (*string, error) {
	c := &call{instance: instance, key: key}
	p.call(ctx, "GetKVValue", c, func() { c.value, c.err = p.Provider.GetKVValue(c.ctx, c.instance, c.key) })
	return c.value, c.err
}

func (p wrong) GetKVAllValues(ctx context.Context, instance string) ([]engine.KVPair, error) {
	c := &call{instance: instance}
	p.call(ctx, "GetKVAllValues", c, func() { c.pairs, c.err = p.Provider.GetKVAllValues(c.ctx, c.instance) })
	return c.pairs, c.err
}

func (p wrong) GetInstanceStats(ctx context.Context, instance string) (*engine.SystemStats, error) {
	c := &call{instance: instance}
	p.call(ctx, "GetInstanceStats", c, func() { c.stats, c.err = p.Provider.GetInstanceStats(c.ctx, c.instance) })
	return c.stats, c.err
}

func (p wrongAdmin) ListInstances(ctx context.Context) ([]string, error) {
	c := &call{}
	p.p.call(ctx, "ListInstances", c, func() { c.names, c.err = p.ProviderAdmin.ListInstances(c.ctx) })
	return c.names, c.err
}

func (p wrongAdmin) ListInstancesByStatus(ctx context.Context, status engine.Status) ([]string, error) {
	c := &call{status: status}
	p.p.call(ctx, "ListInstancesByStatus", c, func() { c.names, c.err = p.ProviderAdmin.ListInstancesByStatus(c.ctx, c.status) })
	return c.names, c.err
}

func (p wrongAdmin) ListExecutions(ctx context.Context, instance string) ([]uint64, error) {
	c := &call{instance: instance}
	p.p.call(ctx, "ListExecutions", c, func() { c.ids, c.err = p.ProviderAdmin.ListExecutions(c.ctx, c.instance) })
	return c.ids, c.err
}

func (p wrongAdmin) ReadHistoryWithExecutionID(ctx context.Context, instance string, execution uint64) ([]engine.Event, error) {
	c := &call{instance: instance, execution: execution}
	p.p.call(ctx, "ReadHistoryWithExecutionID", c, func() { c.events, c.err = p.ProviderAdmin.ReadHistoryWithExecutionID(c.ctx, c.instance, c.execution) })
	return c.events, c.err
}

func (p wrongAdmin) ReadHistory(ctx context.Context, instance string) ([]engine.Event, error) {
	c := &call{instance: instance}
	p.p.call(ctx, "ReadHistory", c, func() { c.events, c.err = p.ProviderAdmin.ReadHistory(c.ctx, c.instance) })
	return c.events, c.err
}

func (p wrongAdmin) LatestExecutionID(ctx context.Context, instance string) (uint64, error) {
	c := &call{instance: instance}
	p.p.call(ctx, "LatestExecutionID", c, func() { c.execution, c.err = p.ProviderAdmin.LatestExecutionID(c.ctx, c.instance) })
	return c.execution, c.err
}

func (p wrongAdmin) GetInstanceInfo(ctx context.Context, instance string) (*engine.InstanceInfo, error) {
	c := &call{instance: instance}
	p.p.call(ctx, "GetInstanceInfo", c, func() { c.info, c.err = p.ProviderAdmin.GetInstanceInfo(c.ctx, c.instance) })
	return c.info, c.err
}

func (p wrongAdmin) GetExecutionInfo(ctx context.Context, instance string, execution uint64) (*engine.ExecutionInfo, error) {
	c := &call{instance: instance, execution: execution}
	p.p.call(ctx, "GetExecutionInfo", c, func() { c.about, c.err = p.ProviderAdmin.GetExecutionInfo(c.ctx, c.instance, c.execution) })
	return c.about, c.err
}

func (p wrongAdmin) GetSystemMetrics(ctx context.Context) (*engine.SystemMetrics, error) {
	c := &call{}
	p.p.call(ctx, "GetSystemMetrics", c, func() { c.metrics, c.err = p.ProviderAdmin.GetSystemMetrics(c.ctx) })
	return c.metrics, c.err
}

func (p wrongAdmin) GetQueueDepths(ctx context.Context) (*engine.QueueDepths, error) {
	c := &call{}
	p.p.call(ctx, "GetQueueDepths", c, func() { c.depths, c.err = p.ProviderAdmin.GetQueueDepths(c.ctx) })
	return c.depths, c.err
}

func (p wrongAdmin) ListChildren(ctx context.Context, instance string) ([]string, error) {
	c := &call{instance: instance}
	p.p.call(ctx, "ListChildren", c, func() { c.names, c.err = p.ProviderAdmin.ListChildren(c.ctx, c.instance) })
	return c.names, c.err
}

func (p wrongAdmin) GetParentID(ctx context.Context, instance string) (string, error) {
	c := &call{instance: instance}
	p.p.call(ctx, "GetParentID", c, func() { c.parent, c.err = p.ProviderAdmin.GetParentID(c.ctx, c.instance) })
	return c.parent, c.err
}

func (p wrongAdmin) GetInstanceTree(ctx context.Context, instance string) (*engine.InstanceTree, error) {
	c := &call{instance: instance}
	p.p.call(ctx, "GetInstanceTree", c, func() { c.tree, c.err = p.ProviderAdmin.GetInstanceTree(c.ctx, c.instance) })
	return c.tree, c.err
}

func (p wrongAdmin) DeleteInstance(ctx context.Context, instance string, force bool) (*engine.DeleteInstanceResult, error) {
	c := &call{instance: instance, force: force}
	p.p.call(ctx, "DeleteInstance", c, func() { c.deleted, c.err = p.ProviderAdmin.DeleteInstance(c.ctx, c.instance, c.force) })
	return c.deleted, c.err
}

func (p wrongAdmin) DeleteInstancesAtomic(ctx context.Context, names []string, force bool) (*engine.DeleteInstanceResult, error) {
	c := &call{names: names, force: force}
	p.p.call(ctx, "DeleteInstancesAtomic", c, func() { c.deleted, c.err = p.ProviderAdmin.DeleteInstancesAtomic(c.ctx, c.names, c.force) })
	return c.deleted, c.err
}

func (p wrongAdmin) DeleteInstanceBulk(ctx context.Context, which engine.InstanceFilter) (*engine.DeleteInstanceResult, error) {
	c := &call{which: which}
	p.p.call(ctx, "DeleteInstanceBulk", c, func() { c.deleted, c.err = p.ProviderAdmin.DeleteInstanceBulk(c.ctx, c.which) })
	return c.deleted, c.err
}

func (p wrongAdmin) PruneExecutions(ctx context.Context, instance string, options engine.PruneOptions) (*engine.PruneResult, error) {
	c := &call{instance: instance, options: options}
	p.p.call(ctx, "PruneExecutions", c, func() { c.pruned, c.err = p.ProviderAdmin.PruneExecutions(c.ctx, c.instance, c.options) })
	return c.pruned, c.err
}

func (p wrongAdmin) PruneExecutionsBulk(ctx context.Context, which engine.InstanceFilter, options engine.PruneOptions) (*engine.PruneResult, error) {
	c := &call{which: which, options: options}
	p.p.call(ctx, "PruneExecutionsBulk", c, func() { c.pruned, c.err = p.ProviderAdmin.PruneExecutionsBulk(c.ctx, c.which, c.options) })
	return c.pruned, c.err
}
