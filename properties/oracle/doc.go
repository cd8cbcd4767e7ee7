// Package oracle is the executable specification of a provider, written from docs/contract/provider.md alone. It takes a
// call, its answer and its time, and reports whether the contract allows the answer and, if not, which answers it
// allows.
//
//	o := oracle.New(oracle.Options{})
//	watched := oracle.Watch(provider, "", nowMs, func(e oracle.Exchange) {
//		if refusal := o.Apply(e); refusal != nil {
//			fmt.Println(refusal) // what was answered, why not, what was allowed, and where the contract says so
//		}
//	})
//
// Many answers are right: the contract leaves much to the provider (docs/contract/provider.md#p10). So the specification
// does not predict an answer; it keeps every state that the store may be in after the calls so far. Each call maps each
// of these states to the states that are consistent with its answer; if none remains, the specification rejects the
// answer. Where a provider may act in either way, the specification has an explicit branch with a name, listed by
// Freedoms; Options.Deny denies freedoms to a provider that promises more. The code is deliberately simple: plain
// slices, linear search, and nothing shared with any provider.
//
// # Uses
//
// Package search makes random sequences of calls on a provider under test, judges every answer, and shrinks a sequence
// with a rejected answer. Package calllog records the calls of a provider in any process, and judges the log. Watch
// reports calls as they are made; simulations use it as their referee. State.Next is the step of a nondeterministic
// model for a linearizability checker; a Lost exchange may have had its effect or not.
//
// # Time
//
// A call takes effect at one instant of its Span, in milliseconds of store time. With virtual time the span is that
// instant. With a real clock it runs from the beginning of the call to its end, and everything that depends on the exact
// instant may go either way: a wrong answer within that uncertainty goes unnoticed.
//
// # Limits
//
// The specification judges answers, not what a provider does inside: that a filtered instance is not decoded, or that an
// ack reads no old event, shows only if it changes an answer. It does not judge how long a call takes. No clause covers
// behaviour that no answer can show.
package oracle
