// Package planedit edits plans by bytes, for fuzzers: every list of bytes gives a valid plan, and a small change of the
// bytes a small change of the plan. It also has the values that plans are drawn from: options of nodes, and the shipped
// orchestrations with actions of their clients. It runs nothing.
package planedit
