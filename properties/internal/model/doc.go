// Package model holds the state of the store as derived from its observations alone, and functions that read it.
//
//	m := model.New(builds, nil)
//	m.Observe(observation)
//	in := m.Instance(observation.Instance)
//
// Store applies each observation before any checker sees it. It believes every observation, right or wrong: checkers
// judge. Nothing in it reads the store under test, except Difference, which compares the two.
package model
