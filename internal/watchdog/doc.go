// Package watchdog ends a run whose user code does not come back: code that blocks, spins or sleeps in real time.
//
//	watch := &watchdog.Watch{}
//	stuck := watch.Guard(limit, func() { result = run(watch) }) // run calls Enter and Leave around user code
//
// It looks at the real clock, but all that it can do is end a run. No result of a run that ends by itself depends on it.
package watchdog
