// Package track follows nodes, deliveries, decisions and phases: what liveness, coverage and expectations know besides
// the model.
//
// State is brought up to date before they see anything. It tells its listeners of facts as they happen, and knows none
// of the listeners.
package track
