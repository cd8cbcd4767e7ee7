// Package pretty is the one form in which messages show virtual times and values:
//
//	pretty.Duration(309_614) // "5m9.614s"
//	pretty.Value(ack)        // pointers are followed
package pretty
