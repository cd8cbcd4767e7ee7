package oracle

import (
	"github.com/durosim/durosim/engine/call"
)

var lockRules = []rule{on((*State).abandonOrchestration), on((*State).renewOrchestration)}

// abandonOrchestration judges the call against docs/contract/provider.md#p5.4.
func (s *State) abandonOrchestration(j *judge, r call.AbandonOrchestrationItem) {
	in, h := s.holding(j, r.LockToken)
	if !j.abandons("5.4", s, r.LockToken, h) {
		return
	}
	c := by("5.4", "I5")
	// F9: the attempt count and the delay apply either to the batch alone or to all messages of the instance.
	scopes := []bool{false}
	if j.grants(f9AbandonScope) {
		scopes = []bool{false, true}
	}
	for _, countAll := range scopes {
		for _, delayAll := range scopes {
			if countAll || delayAll {
				c = free(f9AbandonScope, "5.4")
			}
			j.succeeds(c, func() *State {
				return s.with(func(n *State) { n.release(j, in.id, r, countAll, delayAll) })
			})
			if r.Delay.Milliseconds() <= 0 {
				break // without a delay, no other message's visibility changes
			}
		}
		if !r.IgnoreAttempt {
			break
		}
	}
}

// release unlocks an instance after an abandon. The state must be a clone.
func (s *State) release(j *judge, id string, r call.AbandonOrchestrationItem, countAll, delayAll bool) {
	s.edit(id).lock = nil
	for i := range s.queue {
		m := &s.queue[i]
		if m.instance != id {
			continue
		}
		batch := m.mark == r.LockToken
		if r.IgnoreAttempt && (batch || countAll) && m.count > 0 {
			m.count--
		}
		if r.Delay.Milliseconds() > 0 && (batch || delayAll && m.visible.reached(j.at).may) {
			m.visible = j.at.plus(r.Delay.Milliseconds())
		}
	}
}

// renewOrchestration judges the call against docs/contract/provider.md#p5.5.
func (s *State) renewOrchestration(j *judge, r call.RenewOrchestrationItemLock) {
	in, h := s.holding(j, r.LockToken)
	j.renews("5.5", s, r.LockToken, h, func(n *State) { n.edit(in.id).lock = &lock{r.LockToken, j.at.plus(r.ExtendFor.Milliseconds())} })
}
