// Package faultkind names the kinds of faults that can occur in a run, one constant for each. Package faults describes
// them and defines the rates at which plans inject them:
//
//	rate := faults.Rate{Kind: faultkind.AnswerLost, Num: 1, Den: 60}
//
// A new kind needs a constant here and a place at the end of All, a description in faults.Kinds and a rate in the plans of
// that package, a field in drawnTable of sim/cluster with the place that draws it, and a line in the scenario every-fault.
package faultkind
