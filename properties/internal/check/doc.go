// Package check defines checkers and what they work with: a Run, which has the world, the model, and the methods that
// report violations.
//
//	m := check.New(world, wants)
//	m.Add(checkers...)
//
// A Monitor passes each observation, each record and the end of each step to the checkers that subscribe to it. Facts
// are events that checkers notice along the way and that other packages may want to count. The package does not know
// any property.
package check
