// Package faultkind names the faults of a run, one constant for each. Package faults lists them with what they do, and is
// where plans say how often they happen:
//
//	rate := faults.Rate{Kind: faultkind.AnswerLost, Num: 1, Den: 60}
package faultkind
