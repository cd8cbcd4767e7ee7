package plan

import (
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/pretty"
)

// MaxEdits is the maximum number of edits in one input.
const MaxEdits = 32

// EditHorizon is the latest time that an edit can put into a plan. Only times relative to an instance's start may be later.
const EditHorizon = 20 * time.Second

// EditSpace defines what edits may add to a plan, and the maximum size of the plan.
type EditSpace struct {
	// Known holds the builds and orchestrations that a valid plan may name.
	Known Known
	// Builds lists the builds that an edit may give to a node. It must not be empty.
	Builds []string
	// Work holds the instances that edits may add, one per orchestration. Their times are relative to the instance's
	// start.
	Work []Instance
	// Handlers lists the handlers that a node may deregister, as in "Name@1.0.0".
	Handlers []string
	Faults   []faults.Kind
	// NoPrograms excludes generated programs.
	NoPrograms bool
	// Nodes, Instances, Steps and Statements limit the size of the plan; 0 means no limit. A plan that already exceeds
	// a limit can only shrink.
	Nodes, Instances, Steps, Statements int
}

// Apply applies edits to a copy of base. Each edit takes three bytes: kind, place and value. Apply skips edits that
// would make no sense, so every byte sequence gives a valid plan. The result depends only on base, the space and data.
func (s *EditSpace) Apply(base *Plan, data []byte) *Plan {
	best := base.Clone()
	for n := 0; n < MaxEdits && len(data) > 0; n++ {
		e := edit{space: s, place: at(data, 1), value: at(data, 2), n: n}
		kind := int(data[0]) % len(edits)
		data = data[min(3, len(data)):]
		next := best.Clone()
		edits[kind].do(next, e)
		slices.SortStableFunc(next.Schedule, func(a, b Step) int { return int(a.At - b.At) })
		if s.grows(best, next) || next.Validate(s.Known) != nil || !Reasonable(next, best) {
			continue
		}
		best = next
	}
	return best
}

// mostAdmitted returns the highest pin that an edit may have a node admit: that of the oldest build, if semantics differ
// among the builds, or from the standard ones of those that rescue may start for another pin. A node that replays by its
// own what a newer build began is the plan's mistake and no find. It is nil if there is no such limit.
func (s *EditSpace) mostAdmitted(p *Plan) *engine.Version {
	var oldest *engine.Build
	differ := false
	builds, _ := p.AllBuilds(s.Known.Builds) // a valid plan has no error
	for _, name := range s.Builds {
		b := FindBuild(builds, name)
		if b == nil {
			continue
		}
		differ = differ || b.Semantics != engine.SemanticsStandard || len(b.Changes) > 0
		if oldest == nil || b.Version.Compare(oldest.Version) < 0 {
			oldest = b
		}
	}
	if !differ {
		return nil
	}
	return &oldest.Version
}

// EditKinds returns the names of the kinds of edits. An edit's first byte is an index into this list.
func EditKinds() []string {
	return pretty.Texts(edits, func(e editKind) string { return e.name })
}

// grows reports whether an edit that turns plan was into plan now exceeds a limit, or exceeds it further.
func (s *EditSpace) grows(was, now *Plan) bool {
	beyond := func(bound, was, now int) bool { return bound > 0 && now > bound && now > was }
	return beyond(s.Nodes, len(was.Nodes), len(now.Nodes)) || beyond(s.Steps, len(was.Schedule), len(now.Schedule)) ||
		beyond(s.Instances, len(was.Instances)+len(was.Histories), len(now.Instances)+len(now.Histories)) ||
		beyond(s.Statements, was.Programs.Statements(), now.Programs.Statements())
}

func at(data []byte, i int) int {
	if i < len(data) {
		return int(data[i])
	}
	return 0
}

// edit holds an edit's place and value. n is the edit's number, used in names.
type edit struct {
	space           *EditSpace
	place, value, n int
}

func (e edit) time() time.Duration { return time.Duration(e.value) * EditHorizon / 256 }

// pick returns the element of list selected by place. list must not be empty.
func pick[T any](list []T, place int) *T { return &list[place%len(list)] }

// before inserts a zero element at the front of list and returns a pointer to it.
func before[T any](list *[]T) *T {
	var zero T
	*list = slices.Insert(*list, 0, zero)
	return &(*list)[0]
}

func without[T any](list []T, place int) []T {
	if len(list) == 0 {
		return list
	}
	return slices.Delete(list, place%len(list), place%len(list)+1)
}

// Reasonable reports whether plan p, an edited form of plan was, still makes sense. If the original plan expects an
// instance to end because of an external cause, p must keep that cause, and the program that an instance runs.
func Reasonable(p *Plan, was *Plan) bool {
	for i := range p.Instances {
		in := &p.Instances[i]
		if was.Programs.Lookup(in.Orchestration) != nil && p.Programs.Lookup(in.Orchestration) == nil {
			return false
		}
		if in.Expect == "" || in.Expect == EndCompleted || in.Expect == EndAny {
			continue
		}
		if o := was.instance(in.ID); o != nil && len(actions(o, ActionCancel)) != len(actions(in, ActionCancel)) {
			return false
		}
	}
	return true
}

// settled is how long after an instance's start a message comes at least that finds it begun.
const settled = time.Second

// KeepsMessages reports whether the events and queue messages that clients still send to the instances of plan p, an edited
// form of plan was, come no later after the instance's start than before, and not at its start if they came later.
func KeepsMessages(p *Plan, was *Plan) bool {
	for i := range p.Instances {
		in := &p.Instances[i]
		o := was.instance(in.ID)
		if o == nil {
			continue
		}
		now, before := actions(in, ActionRaise, ActionEnqueue), actions(o, ActionRaise, ActionEnqueue)
		for _, a := range now {
			k := slices.IndexFunc(before, func(b Action) bool { return b.Verb == a.Verb && b.Name == a.Name && b.Data == a.Data })
			if k < 0 {
				return false
			}
			is, came := a.At-in.StartAt, before[k].At-o.StartAt
			if is > came || is < settled && came >= settled {
				return false
			}
			before = before[k+1:]
		}
	}
	return true
}

// MoveMessages moves what clients do for an instance by as much as its start has moved since plan was, of which p is an
// edited form.
func (p *Plan) MoveMessages(was *Plan) {
	for i := range p.Instances {
		in := &p.Instances[i]
		o := was.instance(in.ID)
		for k := range in.Actions {
			if o != nil {
				in.Actions[k].At += in.StartAt - o.StartAt
			}
		}
	}
}

func (p *Plan) instance(id string) *Instance {
	if i := slices.IndexFunc(p.Instances, func(in Instance) bool { return in.ID == id }); i >= 0 {
		return &p.Instances[i]
	}
	return nil
}

// actions returns the actions of an instance with these verbs.
func actions(in *Instance, verbs ...ActionVerb) []Action {
	return slices.DeleteFunc(slices.Clone(in.Actions), func(a Action) bool { return !slices.Contains(verbs, a.Verb) })
}
