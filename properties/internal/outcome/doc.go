// Package outcome compares the end of each piece of work of a plan with what the plan expects of it.
//
// Checker follows the ends of instances with their causes, what nodes refused them, what calm and relief did to them, and
// the times for which they waited for a build. At the end of a run it makes a fate of each, and a violation of the property
// "outcome", class plan, of each that is not as expected. It does not judge whether the contract was kept.
package outcome
