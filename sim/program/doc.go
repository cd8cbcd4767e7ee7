// Package program is orchestrations as data: a small syntax tree over the API of engine/orch, code that carries a tree out,
// and an interpreter that says which outcomes a tree allows.
//
//	set := program.Generate("made", choose)                  // or read from a scenario
//	ok := set.Allows("made-1", circumstances, outcome)       // Set.Handler runs it
//
// A program is a list of statements. Each gives a text, or fails with one, and the output of the program is made of the
// texts, so that a result that goes astray shows. Programs start one another as children or detached, but none starts one
// that stands behind it in its [Set], so that all of them end.
//
//	program greet
//	  call hello
//	  select
//	    wait approval
//	    timer 2s
//	  end
//	  try
//	    child other
//	  catch
//	    say sorry
//	  end
//	  again 2
//	end
//
// [Ops] lists the statements. A statement is made in four places, each one switch or table over [Op]: its words in opTable,
// what it does in exec, what it may come to in the interpreter, and when it is drawn in the generator. A test says so if one
// of them has forgotten it.
//
// # The two readings
//
// [Set.Handler] carries a program out through an orch.Context, like anyone's orchestration. [Set.Explain] and [Set.Allows]
// never run anything: they read the tree, and know of durable execution only that any branch of a select may win, that an
// event has some data that somebody sent, and that activities may be made to panic. The two share the tree and nothing else.
// Allows is generous where time decides and exact about which value stands where.
//
// A handler continues as new by "again": the next execution is given the number of executions before it, the first input,
// and what was said so far.
package program
