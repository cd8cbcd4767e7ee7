// Package gen draws random plans: clusters, schedules, loads, programs and faults. Its functions return rapid
// generators. With durosim.Test, each seed gets its own plan:
//
//	draw := gen.PlanFrom(gen.Space{Work: []plan.Instance{{ID: "refund", Orchestration: "Refund"}}}.Plan())
//	durosim.Test(t, durosim.Config{Plan: draw, Seeds: 200, Handlers: register})
//
// A drawn plan is valid by construction, and shrinks towards fewer and simpler parts. Within one version of durosim, a
// seed always gives the same plan. The package does not run or check anything.
package gen
