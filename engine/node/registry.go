package node

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/orchhost"
)

// Activity is an activity's code. It must be deterministic: its result may depend only on its arguments and on state of
// its run, which durosim.Config.EachRun makes. If it returns an error or panics, the activity fails with that text.
type Activity func(ctx ActivityContext, input string) (string, error)

// JSONActivity returns an Activity for code with typed input and result, which are stored as JSON (see orch.JSON).
func JSONActivity[In, Out any](code func(ctx ActivityContext, in In) (Out, error)) Activity {
	return func(ctx ActivityContext, input string) (string, error) {
		return orch.Typed(input, func(in In) (Out, error) { return code(ctx, in) })
	}
}

// ActivityContext identifies the running activity and where it runs. Attempt is the delivery count, starting at 1.
// Session and Tag are empty if the activity has none. WorkerID is the worker slot's id, unique among all running slots.
//
// It is a context.Context that is never done and has no values, for code that asks for one.
type ActivityContext struct {
	Instance    string
	ExecutionID uint64
	ActivityID  uint64
	Attempt     uint32
	Name        string
	SessionID   string
	Tag         string
	WorkerID    string

	slept *time.Duration
}

// Sleep makes the activity take d longer, in virtual time. It returns at once: all of the code runs at one instant, and its
// result is known after the time that it has slept. If the lock is lost meanwhile, the code runs again.
func (c ActivityContext) Sleep(d time.Duration) {
	if c.slept != nil {
		*c.slept += max(d, 0)
	}
}

// WithSleep returns a context whose Sleep adds to slept.
func (c ActivityContext) WithSleep(slept *time.Duration) ActivityContext {
	c.slept = slept
	return c
}

// Deadline, Done, Err and Value implement context.Context.
func (ActivityContext) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }
func (ActivityContext) Done() <-chan struct{}                   { return nil }
func (ActivityContext) Err() error                              { return nil }
func (ActivityContext) Value(any) any                           { return nil }

// Registry holds a node's code: orchestrations by name and version, activities by name. Registrations may change
// between a node's steps, and every node that shares the Registry sees the change. A Registry comes from NewRegistry, and
// is not safe for concurrent use.
//
// Versions of a name compare as numeric triples and must be registered in ascending order.
type Registry struct {
	orchestrations map[string]*registeredOrchestration
	activities     map[string]Activity
}

type registeredOrchestration struct {
	name     string
	versions []registeredVersion // ascending
	policy   Policy
}

// registeredVersion is one version of an orchestration. Deregister sets its handler to nil but keeps the entry, so that
// the version can be registered again.
type registeredVersion struct {
	version engine.Version
	handler orch.Handler
	text    string // name@version
}

// Policy selects the version that is started when a start names none. The zero value is Latest.
type Policy struct{ exact *engine.Version }

// Latest returns the policy that selects the highest registered version.
func Latest() Policy { return Policy{} }

// Exact returns the policy that selects only version v, whether or not it is registered.
func Exact(v engine.Version) Policy { return Policy{exact: &v} }

// Version returns the only version that the policy selects, or false if it selects the latest.
func (p Policy) Version() (engine.Version, bool) {
	if p.exact == nil {
		return engine.Version{}, false
	}
	return *p.exact, true
}

// Resolved is a handler found in the registry.
type Resolved struct {
	Name    string
	Version engine.Version
	Handler orch.Handler
	text    string // name@version, formatted at registration
}

// String returns name@version.
func (r Resolved) String() string {
	if r.text == "" {
		return handlerText(r.Name, r.Version)
	}
	return r.text
}

func handlerText(name string, version engine.Version) string { return name + "@" + version.String() }

// NewRegistry returns an empty registry, as is the zero value.
func NewRegistry() *Registry { return &Registry{} }

// ready makes the maps of a zero value.
func (r *Registry) ready() {
	if r.orchestrations == nil {
		r.orchestrations = map[string]*registeredOrchestration{}
	}
	if r.activities == nil {
		r.activities = map[string]Activity{}
	}
}

// Register adds a version of an orchestration. The version must be higher than all others of that name, and a
// release is higher than its pre-releases, unless it was registered before and then deregistered.
func (r *Registry) Register(name string, version engine.Version, handler orch.Handler) error {
	if name == "" || handler == nil {
		return fmt.Errorf("orchestration registration %q: expected a name and a handler", name+"@"+version.String())
	}
	if strings.Contains(name, "@") {
		return fmt.Errorf("orchestration registration %q: a name has no @; the version is the second argument", name)
	}
	o := r.orchestrations[name]
	if o == nil {
		o = &registeredOrchestration{name: name}
		r.ready()
		r.orchestrations[name] = o
	}
	at, exists := o.find(version)
	switch {
	case exists && o.versions[at].handler != nil:
		return fmt.Errorf("duplicate orchestration registration: %s@%s", name, version)
	case exists:
		o.versions[at].handler = handler
		return nil
	}
	if latest := o.latest(); latest != nil && version.Precedence(latest.version) <= 0 {
		return fmt.Errorf("non-monotonic orchestration version for %s: %s is not later than existing latest %s", name, version, latest.version)
	}
	o.versions = slices.Insert(o.versions, at, registeredVersion{version, handler, handlerText(name, version)})
	return nil
}

// Deregister removes a version of an orchestration and reports whether it was registered.
func (r *Registry) Deregister(name string, version engine.Version) bool {
	o := r.orchestrations[name]
	if o == nil {
		return false
	}
	at, exists := o.find(version)
	if !exists || o.versions[at].handler == nil {
		return false
	}
	o.versions[at].handler = nil
	return true
}

// SetPolicy sets which version of an orchestration starts by default. The name must be registered.
func (r *Registry) SetPolicy(name string, p Policy) error {
	o := r.orchestrations[name]
	if o == nil {
		return fmt.Errorf("version policy for %s: no such orchestration", name)
	}
	o.policy = p
	return nil
}

// Policy returns which version of an orchestration starts by default.
func (r *Registry) Policy(name string) Policy {
	if o := r.orchestrations[name]; o != nil {
		return o.policy
	}
	return Latest()
}

// RegisterActivity registers an activity.
func (r *Registry) RegisterActivity(name string, run Activity) error {
	if strings.HasPrefix(name, orchhost.SystemActivityPrefix) {
		return fmt.Errorf("activity name '%s' uses reserved prefix '%s'", name, orchhost.SystemActivityPrefix)
	}
	if name == "" || run == nil {
		return fmt.Errorf("activity registration %q: expected a name and a function", name)
	}
	if r.activities[name] != nil {
		return fmt.Errorf("duplicate activity registration: %s", name)
	}
	r.ready()
	r.activities[name] = run
	return nil
}

// DeregisterActivity removes an activity and reports whether it was registered.
func (r *Registry) DeregisterActivity(name string) bool {
	_, found := r.activities[name]
	delete(r.activities, name)
	return found
}

// ResolveStart returns the handler for a start or a continue-as-new: the exact version if one is named, otherwise the
// version that the policy selects. A version that does not parse is treated as not registered
// (docs/contract/runtime.md#r8).
func (r *Registry) ResolveStart(name, version string) (Resolved, bool) {
	o := r.orchestrations[name]
	if o == nil {
		return Resolved{}, false
	}
	if version == "" {
		if o.policy.exact == nil {
			return o.resolved(o.latest())
		}
		return o.exactly(*o.policy.exact)
	}
	for i := range o.versions { // most versions are spelled as they were registered
		if v := &o.versions[i]; v.text[len(name)+1:] == version {
			return o.resolved(v)
		}
	}
	v, err := engine.ParseVersion(version)
	if err != nil {
		return Resolved{}, false
	}
	return o.exactly(v)
}

// ResolveStarted returns the handler for a later turn. It must be exactly the version recorded in the execution's first
// event; 0.0.0 means that no version was recorded.
func (r *Registry) ResolveStarted(name, version string) (Resolved, bool) {
	if version == "0.0.0" {
		version = ""
	}
	return r.ResolveStart(name, version)
}

// Activity returns the code of the named activity.
func (r *Registry) Activity(name string) (Activity, bool) {
	run, found := r.activities[name]
	return run, found
}

// Orchestrations lists the registered versions as name@version, sorted by name and then version. The caller owns the
// slice.
func (r *Registry) Orchestrations() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(r.orchestrations)) {
		for _, v := range r.orchestrations[name].versions {
			if v.handler != nil {
				names = append(names, v.text)
			}
		}
	}
	return names
}

// Activities returns the names of the registered activities, sorted. The caller owns the slice.
func (r *Registry) Activities() []string { return slices.Sorted(maps.Keys(r.activities)) }

// Clone returns a separate registry with the same code.
func (r *Registry) Clone() *Registry {
	c := &Registry{orchestrations: maps.Clone(r.orchestrations), activities: maps.Clone(r.activities)}
	for name, o := range r.orchestrations { //tidy:ordered each entry is copied
		own := *o
		own.versions = slices.Clone(o.versions)
		c.orchestrations[name] = &own
	}
	return c
}

// Adopt copies from another registry the selected code that this one lacks. It reports whether the other registry has
// any selected code. It calls selected with name@version for orchestrations and with the name for activities. Unlike
// Register, Adopt may add a version lower than those already registered.
func (r *Registry) Adopt(from *Registry, selected func(code string) bool) bool {
	any := false
	r.ready()
	for name, o := range from.orchestrations { //tidy:ordered each entry is adopted or not by itself
		for _, v := range o.versions {
			if v.handler == nil || !selected(v.text) {
				continue
			}
			any = true
			mine := r.orchestrations[name]
			if mine == nil {
				mine = &registeredOrchestration{name: name, policy: o.policy}
				r.orchestrations[name] = mine
			}
			if at, exists := mine.find(v.version); !exists {
				mine.versions = slices.Insert(mine.versions, at, v)
			} else if mine.versions[at].handler == nil {
				mine.versions[at] = v
			}
		}
	}
	for name, run := range from.activities { //tidy:ordered likewise
		if !selected(name) {
			continue
		}
		any = true
		if r.activities[name] == nil {
			r.activities[name] = run
		}
	}
	return any
}

// find returns the index of v and whether it is registered, or was.
func (o *registeredOrchestration) find(v engine.Version) (int, bool) {
	return slices.BinarySearchFunc(o.versions, v, func(have registeredVersion, v engine.Version) int {
		return have.version.Precedence(v)
	})
}

// latest returns the highest version that has a handler, or nil.
func (o *registeredOrchestration) latest() *registeredVersion {
	for i := len(o.versions) - 1; i >= 0; i-- {
		if o.versions[i].handler != nil {
			return &o.versions[i]
		}
	}
	return nil
}

// exactly finds one version: 2.0.0-rc.1 does not match 2.0.0.
func (o *registeredOrchestration) exactly(v engine.Version) (Resolved, bool) {
	at, found := o.find(v)
	if !found {
		return Resolved{}, false
	}
	return o.resolved(&o.versions[at])
}

func (o *registeredOrchestration) resolved(v *registeredVersion) (Resolved, bool) {
	if v == nil || v.handler == nil {
		return Resolved{}, false
	}
	return Resolved{Name: o.name, Version: v.version, Handler: v.handler, text: v.text}, true
}
