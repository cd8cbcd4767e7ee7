// Package outcome holds how each piece of work of a plan ended against what the plan expects of it.
//
// Checker follows the ends of instances with their causes, what nodes refused them, what calm and relief did to them, and
// the times for which they waited for a build. At the end of a run it makes a fate of each, and a violation of the property
// "outcome", class plan, of each that is not as expected. Whether the contract was kept is not its question.
package outcome
