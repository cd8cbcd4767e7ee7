// Package sample keeps the long tables of the tests short. A test asks for the rows that it is to try:
//
//	for _, bug := range sample.Of(faults.Catalogue(), 8) {
//
// These are every eighth row, and all of them where the environment says DUROSIM_LONG=1. Only tests import the package.
package sample
