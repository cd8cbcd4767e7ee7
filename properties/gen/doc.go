// Package gen draws random plans: clusters, schedules, loads, programs and faults, as generators of rapid. With
// properties.Test each seed has a plan of its own:
//
//	draw := gen.PlanFrom(gen.Space{Work: []plan.Instance{{ID: "refund", Orchestration: "Refund"}}}.Plan())
//	properties.Test(t, properties.Config{Plan: draw, Seeds: 200, Handlers: register})
//
// A drawn plan is valid by construction and shrinks towards fewer and simpler parts. A seed gives the same plan within one
// version. The package runs nothing and checks nothing.
package gen
