// Package feature names the features that orchestrations can use, and the cells of the matrix of faults and features:
//
//	point := feature.Met("answer-lost", "sessions") // "fault answer-lost meets sessions"
//
// Package properties/internal/coverage counts how often each cell is reached.
package feature
