package relation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
)

// Relation is a change to a plan that must not affect the instances.
type Relation struct {
	Name    string
	Summary string
	// change returns p's twin, or the reason why p has none.
	change func(p *plan.Plan) (twin, string)
}

// twin is a plan to which the change has been made.
type twin struct {
	plan    *plan.Plan
	start   sim.Time
	ordinal bool     // both runs number their draws
	added   string   // the instance that exists only in the twin
	renamed []string // pairs of an old and a new id
}

// All returns all relations.
func All() []Relation {
	return []Relation{
		{"unadmitted", "an instance that no node admits waits all the time", unadmitted},
		{"renamed", "instances have other ids, which sort the other way round", renamed},
		{"epoch", "the run begins 400 days, 5 hours and 123 ms later", shifted},
		{"idle-twin", "one more node of the first node's build is up, and fetches nothing", idleTwin},
	}
}

// nobodys is a version that no build has. It is close to the maximum version that providers can pack.
var nobodys = engine.V(998, 998, 998)

const (
	addedInstance = "relation-unadmitted"
	addedNode     = "relation-twin"
)

func unadmitted(p *plan.Plan) (twin, string) {
	if p.Strategy != "" && p.Strategy != plan.StrategyFilter {
		return twin{}, "with strategy " + string(p.Strategy) + " nodes or the provider touch what they do not admit"
	}
	if p.Store.CallersClock {
		return twin{}, "by the clocks of callers, a poll that is made for it may find something else sooner"
	}
	if p.Rescue == plan.RescueWiden {
		return twin{}, "rescue has the nodes admit every pin"
	}
	admits := func(r *engine.VersionRange) bool { return r != nil && r.Contains(nobodys) }
	for _, n := range p.Nodes {
		for _, s := range n.Options {
			if r, err := engine.ParseRange(s.Value); s.Name == "supported_replay_versions" && err == nil && admits(&r) {
				return twin{}, "node " + n.Name + " admits every pin"
			}
		}
	}
	for _, b := range p.Builds {
		if admits(b.Range) {
			return twin{}, "build " + b.Name + " admits every pin"
		}
	}
	for i := range p.Schedule {
		if admits(p.Schedule[i].Range) {
			return twin{}, fmt.Sprintf("%q admits every pin", p.Schedule[i].String())
		}
	}
	for i := range p.Probes {
		switch f, err := plan.ParseFilter(p.Probes[i].Filter); {
		case p.Probes[i].Look, p.Probes[i].Sweep != "":
			return twin{}, "probe " + p.Probes[i].Name + " goes through all instances"
		case p.Probes[i].Filter != "" && err == nil && f.Admits(&nobodys):
			return twin{}, "probe " + p.Probes[i].Name + " admits every pin"
		}
	}
	q := *p
	q.Histories = append(slices.Clone(p.Histories), plan.History{Instance: addedInstance, Pin: &nobodys, Shape: plan.ShapeWaiting})
	return twin{plan: &q, added: addedInstance}, ""
}

func shifted(p *plan.Plan) (twin, string) {
	if p.Contents != nil {
		return twin{}, "what the store holds at the start has times of its own"
	}
	return twin{plan: p, start: sim.Epoch.Add(400*24*time.Hour + 5*time.Hour + 123*time.Millisecond)}, ""
}

func idleTwin(p *plan.Plan) (twin, string) {
	if len(p.Releases()) > 0 {
		return twin{}, "released runtimes have no node that fetches nothing"
	}
	if p.Store.CallersClock {
		return twin{}, "by the clocks of callers, whoever is up decides when something is due"
	}
	if p.Strategy == plan.StrategySweeper {
		return twin{}, "with strategy sweeper a node that fetches nothing still sweeps"
	}
	for i := range p.Schedule {
		if p.Schedule[i].Verb == plan.VerbActivate {
			return twin{}, "an activation waits for every node"
		}
	}
	q := *p
	n := p.Nodes[0]
	n.Name, n.Absent = addedNode, false
	n.Options = append(slices.DeleteFunc(slices.Clone(n.Options), func(s plan.Setting) bool { return s.Name == "worker_node_id" }),
		plan.Setting{Name: "orchestration_concurrency", Value: "0"}, plan.Setting{Name: "worker_concurrency", Value: "0"})
	q.Nodes = append(slices.Clone(p.Nodes), n)
	// Stop the node after the plan's last action, because otherwise rescue might choose it for work that no node
	// admits.
	q.Schedule = append(slices.Clone(p.Schedule), plan.Step{At: lastOf(p), Verb: plan.VerbStop, Node: addedNode})
	return twin{plan: &q}, ""
}

// lastOf returns the time of the plan's last schedule step, instance start or client action.
func lastOf(p *plan.Plan) time.Duration {
	last := time.Duration(0)
	for i := range p.Schedule {
		last = max(last, p.Schedule[i].At)
	}
	for i := range p.Instances {
		last = max(last, p.Instances[i].StartAt)
		for _, a := range p.Instances[i].Actions {
			last = max(last, a.At)
		}
	}
	if p.FaultPhase > 0 {
		last = min(last, p.FaultPhase-1)
	}
	return last
}

// renamed gives each instance a new id that can be recognized in any text. It also replaces the old ids in the inputs
// and data of other instances.
func renamed(p *plan.Plan) (twin, string) {
	if p.Contents != nil {
		return twin{}, "the store holds instances at the start"
	}
	var old []string
	for i := range p.Instances {
		old = append(old, p.Instances[i].ID)
	}
	for i := range p.Histories {
		if p.Histories[i].Shape == plan.ShapeRespelled {
			return twin{}, "history " + p.Histories[i].Instance + " spells its id with escapes, which cannot be put back"
		}
		old = append(old, p.Histories[i].Instance)
	}
	for _, id := range old {
		if quoted(id) != id {
			return twin{}, "instance " + id + " is escaped in JSON, and twice in the JSON of an input, which cannot be put back"
		}
	}
	slices.Sort(old)
	old = slices.Compact(old)
	ids := map[string]string{}
	t := twin{ordinal: true}
	for i, id := range old {
		ids[id] = fmt.Sprintf("x%05dq", len(old)-i)
		t.renamed = append(t.renamed, id, ids[id])
	}
	name := func(text string) string {
		if id, ok := ids[text]; ok {
			return id
		}
		return text
	}
	q := *p
	q.Instances = slices.Clone(p.Instances)
	for i := range q.Instances {
		in := &q.Instances[i]
		in.ID, in.Input = name(in.ID), name(in.Input)
		in.Actions = slices.Clone(in.Actions)
		for j := range in.Actions {
			in.Actions[j].Data = name(in.Actions[j].Data)
		}
	}
	q.Histories = slices.Clone(p.Histories)
	for i := range q.Histories {
		q.Histories[i].Instance = name(q.Histories[i].Instance)
	}
	q.Probes = slices.Clone(p.Probes)
	for i := range q.Probes {
		of, _, _ := strings.Cut(q.Probes[i].Instance, "/") // or a child of it
		q.Probes[i].Instance = name(of) + strings.TrimPrefix(q.Probes[i].Instance, of)
	}
	t.plan = &q
	return t, ""
}

// back returns a replacer that restores the old ids in JSON text.
func (t *twin) back() *strings.Replacer {
	var pairs []string
	for i := 0; i < len(t.renamed); i += 2 {
		pairs = append(pairs, t.renamed[i+1], quoted(t.renamed[i]))
	}
	return strings.NewReplacer(pairs...)
}

// quoted returns text as it appears between the quotes of a JSON string.
func quoted(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(text) != nil {
		return text // a string can always be encoded
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(b.String(), "\n"), `"`), `"`)
}
