package check

// Fact is an event that checkers notice while they judge, and that needs no further detail. Subscribe to it with
// OnFact.
type Fact uint8

const (
	FactAckAfterExpiry   Fact = iota // the ack of a turn came after its lock had expired, and no other node had taken the lock
	FactAnswerLost                   // an ack took effect, but its node got an error
	FactActivityRetaken              // an activity was handed out again
	FactTakenOver                    // a node took an instance after the lock of the previous holder had expired
	FactWaitOver                     // work was handed out that no node had admitted before
	FactHealthyPoisoned              // work that a live node runs was poisoned without enough chargeable deliveries
	FactSessionTakenOver             // an activity went to an owner other than the one that held its session
	FactDeleted                      // an instance was deleted
	FactDeletedRunning               // the deleted instance was running
	FactDeletedHeld                  // a node held the deleted instance
	FactLateAck                      // an ack for a batch fetched before its instance was deleted came afterwards, and was refused
	FactPruned                       // an execution was pruned
	FactPrunedAtWork                 // the pruned execution's instance was held or had messages queued
	FactCarried                      // a continue-as-new carried an unread queue message over
	FactCarryLimit                   // a continue-as-new carried the maximum number of events over
	FactKVMerged                     // the end of an execution merged key-value changes
	FactTombstoneMerged              // such a merge removed a key
	Facts
)

// OnFact calls f with every fact from now on. It may be called once.
func (m *Run) OnFact(f func(Fact)) { m.tell = f }

func (m *Run) Happened(f Fact) {
	if m.tell != nil {
		m.tell(f)
	}
}
