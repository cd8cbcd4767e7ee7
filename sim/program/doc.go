// Package program represents orchestrations as data. It has a small syntax tree over the API of engine/orch, code that
// executes a tree, and an interpreter that decides which outcomes a tree allows.
//
//	set := program.Generate("made", choose)                  // or read from a scenario
//	ok := set.Allows("made-1", "", circumstances, outcome)   // Program.Handler runs it
//
// A program is a list of statements. Each statement produces a text or fails with one. The program's output is made up
// of these texts, so it reveals a result that ends up in the wrong place. Programs can start one another, as children
// or detached. To ensure that all of them end, a program can start only programs that come before it in its [Set].
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
// [Ops] lists the statements; grammar.ebnf gives their syntax. Each statement is defined in five places, four of which
// are a switch or table over [Op]: its syntax in opTable, its effect in exec, its possible outcomes in the interpreter,
// its selection in the generator, and the grammar. A test fails if one of them is missing.
//
// # The two readings
//
// [Program.Handler] executes a program through an orch.Context, like any orchestration. [Set.Explain] and [Set.Allows]
// never run anything. They only read the tree, and they know little about durable execution: any branch of a select may
// win, an event or message carries data that somebody sent, activities may panic, and an instance has keys and a custom
// status. The two readings share nothing but the tree. Allows is lenient where timing decides, but exact about where
// each value appears. A key that concurrent branches change may have any of their values. A program that continues as
// new without naming a version may continue with any of its versions.
//
// "again" makes a handler continue as new. The next execution receives the number of executions before it, the original
// input, and the output so far.
package program
