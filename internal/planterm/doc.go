// Package planterm defines the terms used in plans and scenarios: ends, expectation modes, kinds of relief, strategies,
// profiles, and shapes of preloaded histories. Package sim/plan has types with the same names and documents the terms
// for users. The module's own code uses these constants:
//
//	if p.Strategy == planterm.StrategyBounce {
package planterm
