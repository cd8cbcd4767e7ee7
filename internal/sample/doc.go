// Package sample keeps the tests' long tables short. A test asks for the rows to try:
//
//	for _, bug := range sample.Of(faults.Catalogue(), 8) {
//
// These are every eighth row, or all rows if the environment sets DUROSIM_LONG=1. Only tests import the package.
package sample
