// Package planedit lets fuzzers edit plans through bytes. Every byte sequence gives a valid plan, and a small change to
// the bytes makes a small change to the plan. The package also supplies the values for random plans: node options, and
// the shipped orchestrations with their clients' actions. It runs nothing.
//
//	next := planedit.Shipped().Apply(base, []byte{4, 0, 128}) // edit 4 at place 0 with value 128
package planedit
