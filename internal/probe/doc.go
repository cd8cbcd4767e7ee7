// Package probe defines the probes that a plan can contain.
//
//	p := probe.Probe{Name: "P", Build: "2.0.0", Filter: "any", Does: []probe.Act{probe.ActRenew}, Every: time.Second, Count: 5}
//
// plan.Plan.Probes holds them, package plan validates them, and sim/cluster carries them out. docs/scenario-format.md
// describes how scenario files write them.
package probe
