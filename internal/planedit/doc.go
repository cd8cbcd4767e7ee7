// Package planedit edits plans by bytes, for fuzzers: every list of bytes means a valid plan, and a short change of the
// bytes a small change of the plan. It also has what plans are drawn from: options of nodes, the shipped orchestrations
// with what clients do to them. It runs nothing.
package planedit
