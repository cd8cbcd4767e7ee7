// Package model is the state of the store as its observations alone tell it, with functions that read it.
//
// Store is brought up to date with each observation before any checker sees it. It believes what it is told, right or
// wrong: judging is for checkers. Nothing in it asks the store under test, except Difference, which compares the two.
package model
