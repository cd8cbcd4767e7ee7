// Package oracle is the executable specification of a provider, written from docs/contract/provider.md alone. Given a
// call, its answer and its time, it reports whether the contract allows the answer. If not, it says which answers the
// contract allows.
//
//	o := oracle.New(oracle.Options{})
//	watched := oracle.Watch(provider, "", nowMs, func(e oracle.Exchange) {
//		if refusal := o.Apply(e); refusal != nil {
//			fmt.Println(refusal) // what was answered, why not, what was allowed, and where the contract says so
//		}
//	})
//
// Many answers can be right, because the contract leaves much to the provider (docs/contract/provider.md#p10). So the
// specification does not predict an answer. Instead, it keeps track of every state that the store may be in after the
// calls so far. Each call maps each of these states to the states that are consistent with its answer; if no state
// remains, the specification rejects the answer. Where a provider may act in more than one way, the specification has
// an explicit branch with a name. Freedoms lists these branches, and Options.Deny denies some of them to a provider
// that promises more. The code is deliberately simple: plain slices and linear search, with nothing shared with any
// provider. Most answers are plainly right: where one state is left, the most frequent calls are confirmed without the
// rules, and the state is changed in place. What is not confirmed goes to the rules.
//
// # Uses
//
// Package search makes random sequences of calls on a provider under test, judges every answer, and shrinks a sequence
// whose answer was rejected. Record logs a provider's calls in any process, and CheckLog judges the log. Watch
// reports calls as they are made; simulations use it as the second judge of their store. State.Next is the step function of a
// nondeterministic model for a linearizability checker; an exchange that is Lost may or may not have taken effect.
//
// # Time
//
// A call takes effect at one instant within its Span, in milliseconds of store time. With virtual time, the span is
// that instant. With a real clock, the span runs from the start of the call to its end, and anything that depends on
// the exact instant may go either way: a wrong answer within that uncertainty goes unnoticed.
//
// # Limits
//
// The specification judges answers, not what a provider does internally. If a provider decodes a filtered instance, or
// an ack reads an old event, that shows only if it changes an answer. The specification does not judge how long a call
// takes, and no clause covers behaviour that no answer can show.
package oracle
