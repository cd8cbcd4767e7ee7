// Package plan describes a run as data: nodes and their builds, a schedule, instances and client actions on them,
// probes and faults. It validates plans before a run, and describes the expectations of a scenario.
//
//	p := &plan.Plan{
//		Nodes:     []plan.Node{{Name: "A", Build: "1.5.0"}},
//		Schedule:  []plan.Step{{At: 5 * time.Second, Verb: plan.VerbUpgrade, Node: "A", Build: "2.0.0"}},
//		Instances: []plan.Instance{{ID: "order-1", Orchestration: "ProcessOrder"}},
//	}
//
// Package sim/cluster executes a plan; sim/scenario reads and writes plans as text. A plan holds no code: it names
// builds and orchestrations, and the caller tells Plan.Validate which ones exist.
package plan
