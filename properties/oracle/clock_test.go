package oracle

import "testing"

func TestSpansAreThreeValued(t *testing.T) {
	yes, no, either := known(true), known(false), truth{may: true}
	for _, c := range []struct {
		due, now Span
		reached  truth
		before   truth
	}{
		{At(5), At(4), no, no}, {At(5), At(5), yes, no}, {At(5), At(6), yes, yes}, {At(5), Between(4, 6), either, either},
		{Between(4, 6), At(5), either, either}, {Between(4, 6), At(6), yes, either}, {Between(4, 6), At(3), no, no},
		{Between(4, 6), Between(6, 9), yes, either},
		{Between(4, 6), Between(7, 9), yes, yes},
	} {
		if got := c.due.reached(c.now); got != c.reached {
			t.Errorf("%s is due at %s: %+v, expected %+v", c.due, c.now, got, c.reached)
		}
		if got := c.due.before(c.now); got != c.before {
			t.Errorf("%s is before %s: %+v, expected %+v", c.due, c.now, got, c.before)
		}
	}
	if yes.and(either) != either || no.and(either) != no || either.not() != either || yes.not() != no {
		t.Error("and, not")
	}
	if got := At(1 << 62).plus(1 << 62).plus(1 << 62); got != At(1<<63-1) {
		t.Errorf("%s: not saturated", got)
	}
}
