package check

// Fact is an event that checkers notice while they judge and that needs no further detail. Use OnFact to subscribe.
type Fact uint8

const (
	FactAckAfterExpiry  Fact = iota // a turn was acked after its lock had expired, but before another node had taken the lock
	FactAnswerLost                  // an ack took effect, but the node that sent it got an error
	FactActivityRetaken             // an activity was delivered again
	FactTakenOver                   // a node took an instance after the previous holder's lock had expired
	FactWaitOver                    // work was delivered that no node had admitted before
	FactHealthyPoisoned             // work that a live node can run was poisoned without enough chargeable deliveries
	Facts
)

// OnFact makes f receive every fact from now on. It may be called only once.
func (m *Run) OnFact(f func(Fact)) { m.tell = f }

func (m *Run) Happened(f Fact) {
	if m.tell != nil {
		m.tell(f)
	}
}
