// Package planterm has the words that plans and scenarios choose from: ends, expectations' modes, ways of relief,
// strategies, profiles and forms of preloaded histories. Package sim/plan has the types under the same names and says what
// the words mean to its users; the module's own code spells them with these constants:
//
//	if p.Strategy == planterm.StrategyBounce {
package planterm
