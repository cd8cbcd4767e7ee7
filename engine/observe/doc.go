// Package observe defines how a store reports its actions: it passes an [Observation] of each action to a [Sink].
//
//	func (w *watcher) Observe(o *observe.Observation) {
//		if o.Kind == observe.LockTaken { … }
//	}
//
// memprovider emits observations; checkers, traces and pictures consume them (docs/architecture.md#observations). An
// observation is valid only during the call to Observe.
package observe
