// Package planterm defines the terms that plans and scenarios choose from: ends, modes of expectations, ways of relief,
// strategies, profiles and shapes of preloaded histories. Package sim/plan has types of the same names and documents
// the terms for users; the module's own code uses these constants:
//
//	if p.Strategy == planterm.StrategyBounce {
package planterm
