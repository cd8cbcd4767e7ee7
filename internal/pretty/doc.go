// Package pretty is the one form in which messages show virtual times and values, and in which they hint at a misspelt name:
//
//	pretty.Duration(309_614) // "5m9.614s"
//	pretty.Value(ack)        // pointers are followed
//	pretty.Hint("retires", names) // "; did you mean retries?"
package pretty
