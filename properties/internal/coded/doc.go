// Package coded judges what a turn makes of its code: the part of the specification of a turn (properties/oracle/turn) that
// takes the code to judge it. It is given what the code asked for and was told (internal/asked), and knows nothing else of
// the code or of what ran it.
//
// The code's requests, in their order, are the code's events of history and delta, in theirs: none is missing, none more,
// each with its values. What the code was told is what these events say. What it dropped, how it ended, and the versions
// that it named are what the turn records and sends.
package coded
