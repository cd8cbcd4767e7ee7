// Package pairs makes plans in which each two parts of the language of scenarios meet: statements, classes of their
// arguments, and features of orchestrations.
//
//	go -C internal/dev run ./simdev pairs -seeds 3
//
// parts.txt has the parts. Tests compare it with the tables of the language, of options, faults and features, so that
// nothing new is left out. docs/pairs.md lists what it has, and which two cannot meet and why.
package pairs
