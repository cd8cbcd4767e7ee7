// Package oracle is the executable specification of a provider, written from docs/contract/provider.md alone. It takes a
// call, its answer and its time, and says whether the contract allows the answer, and if not, what it would have allowed.
//
//	o := oracle.New(oracle.Options{})
//	if refusal := o.Apply(oracle.Exchange{Call: c, Answer: a, At: oracle.At(nowMs)}); refusal != nil {
//		fmt.Println(refusal) // what was answered, why not, what was allowed, and where the contract says so
//	}
//
// Many answers are right: the contract leaves much to the provider (docs/contract/provider.md#p10). So the
// specification does not predict an answer; it keeps the states that the store may be in by what was seen of it. Each
// call maps each of them to the states that its answer leaves possible, and when none is left the answer is refused.
// What a provider may do either way is an explicit branch with a name, listed by Freedoms; Options.Deny takes freedoms
// away from a provider that promises more. Naive on purpose: plain slices, linear search, nothing shared with any
// provider.
//
// # Uses
//
// Package search makes random sequences of calls on a provider under test, compares every answer, and shrinks what is
// refused. Package calllog records a provider's calls, in whatever process it runs, and judges the log. Watch tells calls
// as they are made; simulations are refereed by it. State.Next is the step of a nondeterministic model for a checker of
// linearizability; an exchange that is Lost may have had its effect or not.
//
// # Time
//
// A call takes effect at one instant of its Span, in milliseconds of store time. With virtual time the span is that
// instant. With a real clock it runs from the call's begin to its end, and what depends on when exactly the call took
// effect may be either way: a wrong answer within that uncertainty is not seen.
//
// # Limits
//
// The specification judges answers, not what a provider does inside: that a filtered instance is not decoded, or an ack
// reads no old event, shows only if it changes an answer. It does not judge how long a call takes. Behaviour that no
// answer can show is in no clause.
package oracle
