// Package faultkind names the kinds of faults that can occur in a run, one constant for each. Package faults describes
// them and defines the rates at which plans inject them:
//
//	rate := faults.Rate{Kind: faultkind.AnswerLost, Num: 1, Den: 60}
package faultkind
