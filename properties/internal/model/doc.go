// Package model holds the state of the store, derived from the store's observations alone, and functions that read it.
//
//	m := model.New(builds, nil)
//	m.Observe(observation)
//	in := m.Instance(observation.Instance)
//
// Admits and Eligible state, for all checkers, which work a filter admits and a fetch may be given.
//
// A Shadow applies each observation before any checker sees it. It believes every observation, right or wrong, because
// judging is up to the checkers. Nothing in the package reads the store under test, except Difference, which compares
// the two.
package model
