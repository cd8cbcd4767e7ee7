// Package pairs makes plans in which each two parts of the language of scenarios meet: statements, classes of their
// arguments, and features of orchestrations.
//
//	go -C internal/dev run ./simdev pairs -seeds 3
//
// In each plan two nodes run 1.5.0, one of which is upgraded to the build 2.1.0, and one runs 2.1.0. Every check is on but
// those that judge the plan: what is found is a defect of durosim, or a mistake of the plan that parts.txt has to name.
//
// parts.txt has the parts, and which two cannot meet and why ("never"); what the language refuses, such as two
// strategies, needs no line there. Tests compare it with the tables of the language, of options, faults and features, so
// that nothing new is left out.
package pairs
