// Package oracle is the executable specification of a provider, written from docs/contract/provider.md alone. It takes a
// call, its answer and its time. It reports whether the contract allows the answer, and if not, what it would have
// allowed.
//
//	o := oracle.New(oracle.Options{})
//	watched := oracle.Watch(provider, "", nowMs, func(e oracle.Exchange) {
//		if refusal := o.Apply(e); refusal != nil {
//			fmt.Println(refusal) // what was answered, why not, what was allowed, and where the contract says so
//		}
//	})
//
// Many answers are right: the contract leaves much to the provider (docs/contract/provider.md#p10). So the specification
// does not predict an answer; it keeps every state that the store may be in, given what it has seen. Each call maps each
// of these states to the states that its answer leaves possible; when none is left, the answer is refused. Where a
// provider may act either way, the specification has an explicit branch with a name, listed by Freedoms; Options.Deny
// takes freedoms away from a provider that promises more. The code is naive on purpose: plain slices, linear search,
// nothing shared with any provider.
//
// # Uses
//
// Package search makes random sequences of calls on a provider under test, judges every answer, and shrinks a refused
// sequence. Package calllog records a provider's calls, in whatever process it runs, and judges the log. Watch reports
// calls as they are made; simulations use it as their referee. State.Next is the step of a nondeterministic model for a
// linearizability checker; an exchange that is Lost may have had its effect or not.
//
// # Time
//
// A call takes effect at one instant of its Span, in milliseconds of store time. With virtual time the span is that
// instant. With a real clock it runs from the call's beginning to its end, and whatever depends on the exact instant may
// go either way: a wrong answer within that uncertainty goes unnoticed.
//
// # Limits
//
// The specification judges answers, not what a provider does inside: that a filtered instance is not decoded, or that an
// ack reads no old event, shows only if it changes an answer. It does not judge how long a call takes. No clause covers
// behaviour that no answer can show.
package oracle
