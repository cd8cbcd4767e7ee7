// Package sample samples the rows of long tables in tests:
//
//	for _, bug := range sample.Of(faults.Catalogue(), 8) {
//
// By default, this visits every eighth row. With DUROSIM_LONG=1 in the environment, it visits every row. The package is
// for use in tests only, and has what else tests of several packages share.
package sample
