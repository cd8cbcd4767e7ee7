// Package feature names the features that orchestrations use, and the cells of the matrix of faults and features:
//
//	point := feature.Met("answer-lost", "sessions") // "fault answer-lost meets sessions"
//
// Package properties/internal/coverage counts the cells.
package feature
