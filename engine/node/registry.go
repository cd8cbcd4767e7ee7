package node

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/orchhost"
)

// Activity is an activity's code. It must be deterministic: its result may depend only on its arguments. A returned
// error fails the activity with the error's text; so does a panic.
type Activity func(ctx ActivityContext, input string) (string, error)

// ActivityContext identifies the running activity and where it runs. Attempt is its delivery number, from 1; session
// and tag are empty if there is none; WorkerID is the worker slot's, unique among all running slots.
type ActivityContext struct {
	Instance    string
	ExecutionID uint64
	ActivityID  uint64
	Attempt     uint32
	Name        string
	SessionID   string
	Tag         string
	WorkerID    string
}

// Registry is a node's code: orchestrations by name and version, activities by name. Registrations may change between
// two steps of a node; all nodes that share a Registry see the change. A Registry is not safe for concurrent use.
//
// Versions of one name compare as numeric triples and must be registered in ascending order.
type Registry struct {
	orchestrations []registeredOrchestration // sorted by name
	activities     []registeredActivity      // sorted by name
}

type registeredOrchestration struct {
	name     string
	versions []registeredVersion // ascending
	policy   Policy
}

// registeredVersion has a nil handler after Deregister. Its entry stays, so that the version can be registered again.
type registeredVersion struct {
	version engine.Version
	handler orch.Handler
	text    string // name@version
}

type registeredActivity struct {
	name string
	run  Activity
}

// Policy selects the version of a name that starts when the start names none. The zero value is Latest.
type Policy struct{ exact *engine.Version }

// Latest returns the policy that takes the highest registered version.
func Latest() Policy { return Policy{} }

// Exact returns the policy that takes only that version, whether it is registered or not.
func Exact(v engine.Version) Policy { return Policy{exact: &v} }

// Resolved is a handler that the registry found.
type Resolved struct {
	Name    string
	Version engine.Version
	Handler orch.Handler
	text    string // name@version, made at registration
}

// String returns name@version.
func (r Resolved) String() string {
	if r.text == "" {
		return handlerText(r.Name, r.Version)
	}
	return r.text
}

func handlerText(name string, version engine.Version) string { return name + "@" + version.String() }

// NewRegistry returns an empty registry.
func NewRegistry() *Registry { return &Registry{} }

// Register adds a version of an orchestration. It must be later than all versions of the name, except that a
// deregistered version may be registered again.
func (r *Registry) Register(name string, version engine.Version, handler orch.Handler) error {
	if name == "" || handler == nil {
		return fmt.Errorf("orchestration registration %q: expected a name and a handler", name+"@"+version.String())
	}
	i, found := r.find(name)
	if !found {
		r.orchestrations = slices.Insert(r.orchestrations, i, registeredOrchestration{name: name})
	}
	o := &r.orchestrations[i]
	at, exists := o.find(version)
	switch {
	case exists && o.versions[at].version != version || exists && o.versions[at].handler != nil:
		return fmt.Errorf("duplicate orchestration registration: %s@%s", name, version)
	case exists:
		o.versions[at].handler = handler
		return nil
	}
	if latest := o.latest(); latest != nil && version.Compare(latest.version) <= 0 {
		return fmt.Errorf("non-monotonic orchestration version for %s: %s is not later than existing latest %s", name, version, latest.version)
	}
	o.versions = slices.Insert(o.versions, at, registeredVersion{version, handler, handlerText(name, version)})
	return nil
}

// Deregister removes a version of an orchestration and reports whether it was there.
func (r *Registry) Deregister(name string, version engine.Version) bool {
	i, found := r.find(name)
	if !found {
		return false
	}
	o := &r.orchestrations[i]
	at, exists := o.find(version)
	if !exists || o.versions[at].version != version || o.versions[at].handler == nil {
		return false
	}
	o.versions[at].handler = nil
	return true
}

// SetPolicy sets which version of a name starts by default. The name must have been registered.
func (r *Registry) SetPolicy(name string, p Policy) error {
	i, found := r.find(name)
	if !found {
		return fmt.Errorf("version policy for %s: no such orchestration", name)
	}
	r.orchestrations[i].policy = p
	return nil
}

// RegisterActivity adds an activity.
func (r *Registry) RegisterActivity(name string, run Activity) error {
	if strings.HasPrefix(name, orchhost.SystemActivityPrefix) {
		return fmt.Errorf("activity name '%s' uses reserved prefix '%s'", name, orchhost.SystemActivityPrefix)
	}
	if name == "" || run == nil {
		return fmt.Errorf("activity registration %q: expected a name and a function", name)
	}
	i, found := r.findActivity(name)
	if found {
		return fmt.Errorf("duplicate activity registration: %s", name)
	}
	r.activities = slices.Insert(r.activities, i, registeredActivity{name, run})
	return nil
}

// DeregisterActivity removes an activity and reports whether it was there.
func (r *Registry) DeregisterActivity(name string) bool {
	i, found := r.findActivity(name)
	if found {
		r.activities = slices.Delete(r.activities, i, i+1)
	}
	return found
}

// ResolveStart returns the handler for a start or a continue-as-new: the exact version if it names one, otherwise the
// version that the policy selects. A version that does not parse counts as not registered
// (docs/contract/runtime.md#r8).
func (r *Registry) ResolveStart(name, version string) (Resolved, bool) {
	o := r.lookUp(name)
	if o == nil {
		return Resolved{}, false
	}
	if version == "" {
		if o.policy.exact == nil {
			return o.resolved(o.latest())
		}
		return o.exactly(*o.policy.exact)
	}
	for i := range o.versions { // usually spelled as it was registered
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

// ResolveStarted returns the handler for a later turn: exactly the version that the execution's first event records,
// where 0.0.0 counts as none.
func (r *Registry) ResolveStarted(name, version string) (Resolved, bool) {
	if version == "0.0.0" {
		version = ""
	}
	return r.ResolveStart(name, version)
}

// Activity returns an activity's code.
func (r *Registry) Activity(name string) (Activity, bool) {
	i, found := r.findActivity(name)
	if !found {
		return nil, false
	}
	return r.activities[i].run, true
}

// Orchestrations lists the registered versions as name@version, by name and then version. The caller owns the slice.
func (r *Registry) Orchestrations() []string {
	var names []string
	for _, o := range r.orchestrations {
		for _, v := range o.versions {
			if v.handler != nil {
				names = append(names, o.name+"@"+v.version.String())
			}
		}
	}
	return names
}

// Activities returns the names of the registered activities, sorted. The caller owns the slice.
func (r *Registry) Activities() []string {
	names := make([]string, len(r.activities))
	for i, a := range r.activities {
		names[i] = a.name
	}
	return names
}

// Clone returns a separate registry with the same code.
func (r *Registry) Clone() *Registry {
	c := &Registry{orchestrations: slices.Clone(r.orchestrations), activities: slices.Clone(r.activities)}
	for i := range c.orchestrations {
		c.orchestrations[i].versions = slices.Clone(c.orchestrations[i].versions)
	}
	return c
}

// Adopt adds the selected code that another registry has and this one lacks. It reports whether the other registry has
// any selected code. selected is asked about versions of orchestrations, as name@version, and about names of
// activities. Unlike with Register, a version may be earlier than those already registered.
func (r *Registry) Adopt(from *Registry, selected func(code string) bool) bool {
	any := false
	for _, o := range from.orchestrations {
		for _, v := range o.versions {
			if v.handler == nil || !selected(v.text) {
				continue
			}
			any = true
			i, found := r.find(o.name)
			if !found {
				r.orchestrations = slices.Insert(r.orchestrations, i, registeredOrchestration{name: o.name, policy: o.policy})
			}
			mine := &r.orchestrations[i]
			if at, exists := mine.find(v.version); !exists {
				mine.versions = slices.Insert(mine.versions, at, v)
			} else if mine.versions[at].handler == nil {
				mine.versions[at] = v
			}
		}
	}
	for _, a := range from.activities {
		if !selected(a.name) {
			continue
		}
		any = true
		if i, found := r.findActivity(a.name); !found {
			r.activities = slices.Insert(r.activities, i, a)
		}
	}
	return any
}

func (r *Registry) find(name string) (int, bool) {
	return slices.BinarySearchFunc(r.orchestrations, name, func(o registeredOrchestration, name string) int {
		return strings.Compare(o.name, name)
	})
}

// lookUp returns the orchestration with a name, nil if there is none. A linear search is fastest for a few dozen names,
// since most differ in length.
func (r *Registry) lookUp(name string) *registeredOrchestration {
	for i := range r.orchestrations {
		if r.orchestrations[i].name == name {
			return &r.orchestrations[i]
		}
	}
	return nil
}

func (r *Registry) findActivity(name string) (int, bool) {
	return slices.BinarySearchFunc(r.activities, name, func(a registeredActivity, name string) int {
		return strings.Compare(a.name, name)
	})
}

// find returns the index of a version's triple, and whether the triple is registered.
func (o *registeredOrchestration) find(v engine.Version) (int, bool) {
	return slices.BinarySearchFunc(o.versions, v, func(have registeredVersion, v engine.Version) int {
		return have.version.Compare(v)
	})
}

// latest returns the highest version that has a handler, nil if there is none.
func (o *registeredOrchestration) latest() *registeredVersion {
	for i := len(o.versions) - 1; i >= 0; i-- {
		if o.versions[i].handler != nil {
			return &o.versions[i]
		}
	}
	return nil
}

// exactly finds a version by its exact text: 2.0.0-rc.1 is not 2.0.0, although only one of them can be registered.
func (o *registeredOrchestration) exactly(v engine.Version) (Resolved, bool) {
	at, found := o.find(v)
	if !found || o.versions[at].version != v {
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
