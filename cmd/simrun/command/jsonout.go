package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/durosim/durosim/cmd/simrun/internal/upgrade"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
)

// schema is the version of the format printed by --json. Adding a field does not change it.
const schema = 1

// runJSON is the object that --json prints for a campaign.
type runJSON struct {
	Schema         int               `json:"schema"`
	Verb           string            `json:"verb"`
	Scenario       string            `json:"scenario"`
	FirstSeed      string            `json:"first_seed"`
	Seeds          uint64            `json:"seeds"`
	Passed         uint64            `json:"passed"`
	SecondJudge    uint64            `json:"second_judge,omitempty"` // how many of the seeds it watched
	Violations     []violationJSON   `json:"violations"`
	Omitted        uint64            `json:"violations_omitted"`
	Steps          uint64            `json:"steps"`
	Turns          uint64            `json:"turns"`
	VirtualSeconds float64           `json:"virtual_seconds"`
	WallSeconds    float64           `json:"wall_seconds"`
	Digest         string            `json:"digest"`
	Coverage       map[string]uint64 `json:"coverage"`
	Unreached      []string          `json:"unreached"`
	// Missed lists the required points in Unreached. If there are any, the campaign is vacuous.
	Missed []string `json:"missed"`
	// Contract and Plan are the two verdicts, each a single sentence. Fate is the basis for Plan.
	Contract string   `json:"contract"`
	Plan     string   `json:"plan"`
	Fate     fateJSON `json:"fate"`
	// Windows lists the windows of the simulated upgrade.
	Windows        []upgrade.Window `json:"windows,omitempty"`
	Drifts         []driftJSON      `json:"drifts"`
	InternalErrors []crashJSON      `json:"internal_errors"`
	Stored         []string         `json:"stored"`
	Findings       []*knownFinding  `json:"findings,omitempty"`
	Portfolio      []memberCount    `json:"portfolio,omitempty"`
	Confidence     *confidenceJSON  `json:"confidence,omitempty"`
	Interrupted    bool             `json:"interrupted,omitempty"`
	GoOn           string           `json:"go_on,omitempty"`
	ExitStatus     int              `json:"exit_status"`
	Story          []storyLineJSON  `json:"story,omitempty"`
	Expected       string           `json:"expected_verdict,omitempty"`
	Notices        []string         `json:"notices,omitempty"`
}

// fateJSON describes how the work ended.
type fateJSON struct {
	Work     uint64    `json:"work"`
	Expected uint64    `json:"as_expected"`
	Ends     []endJSON `json:"ends"`
	// Helped counts the instances that received help from calm or relief. Help lists that help by kind.
	Helped uint64     `json:"helped"`
	Help   []helpJSON `json:"help"`
	Waits  []waitJSON `json:"waits"`
}

// helpJSON totals one kind of help beyond the plan. The kinds raise, enqueue and cancel help an instance; start and
// widen help a node.
type helpJSON struct {
	Phase     string `json:"phase"`
	Kind      string `json:"kind"`
	Text      string `json:"text"`
	Count     uint64 `json:"count"`
	Seeds     uint64 `json:"seeds"`
	First     string `json:"first"`
	FirstSeed string `json:"first_seed"`
}

type endJSON struct {
	End        string    `json:"end"`
	Cause      string    `json:"cause"`
	AsExpected bool      `json:"as_expected"`
	Expected   string    `json:"expected"` // the end that the plan expected, if it was a different one
	Owes       string    `json:"owes"`
	Count      uint64    `json:"count"`
	Instances  []metJSON `json:"instances"`
}

type metJSON struct {
	Seed     string `json:"seed"`
	Instance string `json:"instance"`
	EndedMs  int64  `json:"ended_ms"`
	Node     string `json:"node"`
	Build    string `json:"build"`
	Step     string `json:"step"`
}

type waitJSON struct {
	After    string `json:"after"`
	Count    uint64 `json:"count"`
	MaxMs    int64  `json:"max_ms"`
	P99Ms    int64  `json:"p99_ms"`
	Instance string `json:"instance"`
	Pin      string `json:"pin"`
	FromMs   int64  `json:"from_ms"`
	Open     bool   `json:"open"`
	Seed     string `json:"seed"`
}

func newFateJSON(f *campaign.Fate) fateJSON {
	out := fateJSON{Work: f.Work, Expected: f.Expected, Ends: []endJSON{}, Helped: f.Helped, Help: []helpJSON{}, Waits: []waitJSON{}}
	for _, g := range f.Help {
		out.Help = append(out.Help, helpJSON{g.Phase.String(), string(g.Kind), g.Text, g.Count, g.Seeds, g.First, decimal(g.FirstSeed)})
	}
	for _, e := range f.Ends {
		end := endJSON{End: string(e.End), Cause: e.Cause, AsExpected: e.AsExpected, Expected: string(e.Expect), Owes: e.Owes, Count: e.Count, Instances: []metJSON{}}
		for _, m := range e.Instances {
			end.Instances = append(end.Instances, metJSON{decimal(m.Seed), m.Instance, m.EndedMs, m.Node, m.Build, m.Step})
		}
		out.Ends = append(out.Ends, end)
	}
	for _, g := range f.Waits {
		out.Waits = append(out.Waits, waitJSON{
			g.After, g.Count, g.Max.Milliseconds(), g.P99.Milliseconds(), g.Longest.Instance, g.Longest.Pin, g.Longest.FromMs, g.Longest.Open, decimal(g.LongestSeed),
		})
	}
	return out
}

type violationJSON struct {
	Property  string `json:"property"`
	Class     string `json:"class"`
	Seed      string `json:"seed"`
	Step      uint64 `json:"step"`
	VirtualMs int64  `json:"virtual_ms"`
	Node      string `json:"node"`
	Instance  string `json:"instance"`
	Message   string `json:"message"`
	WorkItem  string `json:"work_item"`
	Repro     string `json:"repro"`
	// Expectation is the scenario's expectation that was violated.
	Expectation string `json:"expectation,omitempty"`
}

// driftJSON describes a seed whose two runs differ. Handler names the handler that causes the difference. It is set
// only for the first such seed.
type driftJSON struct {
	Seed    string `json:"seed"`
	First   string `json:"first"`
	Second  string `json:"second"`
	Handler string `json:"handler,omitempty"`
}

type crashJSON struct {
	Seed  string `json:"seed"`
	Text  string `json:"text"`
	Stack string `json:"stack"`
}

type storyLineJSON struct {
	VirtualMs int64  `json:"virtual_ms"`
	Step      uint64 `json:"step"`
	Node      string `json:"node"`
	Build     string `json:"build"`
	Text      string `json:"text"`
	Important bool   `json:"important"`
	Violation bool   `json:"violation"`
}

func (r *report) json(verb string) *runJSON {
	sum := r.sum
	out := &runJSON{
		Schema: schema, Verb: verb, Scenario: r.subject.scenario.Name, FirstSeed: decimal(r.seeds.first),
		Seeds: sum.Seeds, Passed: sum.Passed, SecondJudge: r.second, Omitted: sum.Omitted, Steps: sum.Steps, Turns: sum.Turns,
		VirtualSeconds: float64(sum.VirtualMs) / 1000, WallSeconds: r.wall.Seconds(), Digest: sum.Digest.String(),
		Violations: []violationJSON{}, Coverage: coverageJSON(sum.Coverage), Unreached: notNil(r.unreached), Missed: notNil(r.missed),
		Drifts: []driftJSON{}, InternalErrors: []crashJSON{}, Stored: notNil(r.stored), ExitStatus: r.status,
		Contract: strings.TrimPrefix(r.contract(), "contract: "), Plan: strings.TrimPrefix(sum.Plan(), "plan: "), Fate: newFateJSON(&sum.Fate),
		Windows: r.windows, Findings: r.findings, Portfolio: r.portfolio, Confidence: r.confidence(), Interrupted: sum.Interrupted, GoOn: r.goOn,
	}
	for _, v := range sum.Violations {
		out.Violations = append(out.Violations, newViolationJSON(v, r.subject.repro(v.Seed)))
	}
	for i, d := range sum.Drifts {
		drift := driftJSON{Seed: decimal(d.Seed), First: d.First.String(), Second: d.Second.String()}
		if i == 0 && r.handler != nil {
			drift.Handler = r.handler.Message
		}
		out.Drifts = append(out.Drifts, drift)
	}
	for _, e := range sum.Internal {
		out.InternalErrors = append(out.InternalErrors, crashJSON{decimal(e.Seed), e.Text, e.Stack})
	}
	return out
}

func newViolationJSON(v campaign.Violation, repro string) violationJSON {
	return violationJSON{
		Property: v.Property, Class: string(v.Class), Seed: decimal(v.Seed), Step: v.Step, VirtualMs: v.VirtualMs,
		Node: v.Node, Instance: v.Instance, Message: v.Message, WorkItem: v.WorkItem, Repro: repro, Expectation: v.Expectation,
	}
}

func coverageJSON(points []cluster.Point) map[string]uint64 {
	out := make(map[string]uint64, len(points))
	for _, p := range points {
		out[p.Name] = p.Count
	}
	return out
}

// decimal formats a seed as a decimal string, because a JSON number cannot hold 64 bits.
func decimal(seed uint64) string { return strconv.FormatUint(seed, 10) }

func notNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// writeJSON prints v and nothing else.
func (a *app) writeJSON(v any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return &crash{fmt.Errorf("JSON: %w", err)}
	}
	_, _ = a.stdout.Write(text.Bytes()) // Run reports write errors
	return nil
}
