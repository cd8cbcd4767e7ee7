// Package program represents orchestrations as data. It has a small syntax tree over the API of engine/orch, code that
// executes a tree, and an interpreter that decides which outcomes a tree allows.
//
//	set := program.Generate("made", choose)                  // or read from a scenario
//	ok := set.Allows("made-1", "", circumstances, outcome)   // Program.Handler runs it
//
// A program is a list of statements. Each statement gives a text or fails with a text. The output of the program
// consists of these texts, so that a misplaced result is visible. Programs start one another as children or detached,
// but a program starts only programs before it in its [Set], so that all of them end.
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
// [Ops] lists the statements; grammar.ebnf has their syntax. Each statement has a definition in five places, four of
// them a switch or table over [Op]: its words in opTable, its effect in exec, its possible outcomes in the interpreter,
// its choice in the generator, and its syntax in the grammar. A test fails if one of them is missing.
//
// # The two readings
//
// [Program.Handler] executes a program through an orch.Context, like any orchestration. [Set.Explain] and [Set.Allows]
// never run anything. They read the tree and know little about durable execution: any branch of a select may win, an
// event or message carries data that somebody sent, activities may panic, and an instance has keys and a custom status.
// The two readings share only the tree. Allows is lenient where time decides, and exact about which value appears
// where. A key that concurrent branches change may have any of their values, and a program that continues as new
// without naming a version may go on with any of its versions.
//
// "again" makes a handler continue as new: the next execution gets the number of executions before it, the first input,
// and the output so far.
package program
