// Package planedit edits plans by bytes, for fuzzers: every list of bytes gives a valid plan, and a small change of the
// bytes a small change of the plan. It also has the values that plans are drawn from: options of nodes, and the shipped
// orchestrations with actions of their clients. It runs nothing.
//
//	next := planedit.Shipped().Apply(base, []byte{4, 0, 128}) // edit 4 at place 0 with value 128
package planedit
