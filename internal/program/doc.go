// Package program represents orchestrations as data: a small syntax tree over the API of engine/orch, code that carries a
// tree out, and an interpreter that decides which outcomes a tree allows.
//
//	set := program.Generate("made", choose)                  // or read from a scenario
//	ok := set.Allows("made-1", "", circumstances, outcome)   // Program.Handler runs it
//
// A program is a list of statements. Each gives a text, or fails with one, and the output of the program is made of these
// texts, so that a result that goes astray shows. Programs start one another as children or detached, but a program starts
// only those before it in its [Set], so that all of them end.
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
// [Ops] lists the statements; grammar.ebnf has their syntax. A statement is defined in five places, four of them a switch or
// table over [Op]: its words in opTable, its effect in exec, its possible outcomes in the interpreter, when it is drawn in
// the generator, and the grammar. A test fails if one of them is missing.
//
// # The two readings
//
// [Program.Handler] carries a program out through an orch.Context, like any orchestration. [Set.Explain] and [Set.Allows] never
// run anything: they read the tree, and know little about durable execution: any branch of a select may win, an event or
// message carries data that somebody sent, activities may be made to panic, and an instance has keys and a custom status.
// The two readings share only the tree. Allows is lenient where time decides, and exact about which value appears where: a
// key that concurrent branches change may have any of their values, and a program that continues as new without naming a
// version may go on with any of its own.
//
// "again" makes a handler continue as new: the next execution is given the number of executions before it, the first
// input, and the output so far.
package program
