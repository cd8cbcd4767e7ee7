// Package probe defines the probes of a plan.
//
//	p := probe.Probe{Name: "P", Build: "2.0.0", Filter: "any", Does: []probe.Act{probe.ActRenew}, Every: time.Second, Count: 5}
//
// plan.Plan.Probes holds them, package plan validates them, and sim/cluster carries them out. Scenario files describe
// them in words (docs/scenario-format.md).
package probe
