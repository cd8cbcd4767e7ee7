// Package plan describes a run as data: nodes and their builds, a schedule, instances and what clients do to them,
// probes and faults. It validates plans before a run, edits them through bytes for fuzzers (EditSpace), and defines the
// expectations that a scenario may state.
//
//	p := &plan.Plan{
//		Nodes:     []plan.Node{{Name: "A", Build: "1.5.0"}},
//		Schedule:  []plan.Step{{At: 5 * time.Second, Verb: plan.VerbUpgrade, Node: "A", Build: "2.0.0"}},
//		Instances: []plan.Instance{{ID: "order-1", Orchestration: "ProcessOrder"}},
//	}
//
// Package sim/cluster executes plans, and sim/scenario reads and writes them as text. A plan contains no code: it names
// builds and orchestrations, and the caller tells Plan.Validate which ones exist.
package plan
