// Package conduct is the specification of a node, and the checker that holds nodes to it: S28.
//
// From the answers that a node gets it says what the node decides about each delivery, in which words and with which
// delay; what it asks for next, and when; which lines it logs; and what its counters show when it ends. It reads the
// records of a run, the build, the options and the registered handlers of a node, and nothing that the node keeps. It
// shares no rule with package machine: of that it takes the names of decisions and the types of what nodes emit.
//
// What is due has to come: a slot that asks nothing more, a lock or a session that is not renewed, an activity that runs on
// without its lock are reported when the node ends or the run does. A sweeper has its own rules, which are here, too.
//
// It does not say what a turn computes, which is S24's, nor what becomes of the store, nor what a node does that runs a
// released runtime, whose decisions nobody sees.
package conduct
