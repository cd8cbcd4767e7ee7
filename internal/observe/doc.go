// Package observe has what a store tells of itself: an [Observation] for each thing that it did, handed to a [Sink].
//
//	func (w *watcher) Observe(o *observe.Observation) {
//		if o.Kind == observe.LockTaken { … }
//	}
//
// memprovider emits observations; checkers, traces and pictures are made of them (docs/architecture.md#observations). An
// observation is valid only during the call that hands it over.
package observe
