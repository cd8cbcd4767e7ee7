// Package sample thins out the tests' long tables. A test ranges over a sample of the rows:
//
//	for _, bug := range sample.Of(faults.Catalogue(), 8) {
//
// By default, this visits every eighth row. With DUROSIM_LONG=1 in the environment, it visits all of them. The package
// is for use in tests only.
package sample
