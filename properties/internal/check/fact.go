package check

// Fact is something that checkers notice while they judge, and that needs no further detail. Subscribe to it with OnFact.
type Fact uint8

const (
	FactAckAfterExpiry   Fact = iota // a turn's ack came after its lock had run out, and nobody had taken it
	FactAnswerLost                   // an ack took effect, and its node was told of a failure
	FactActivityRetaken              // an activity was handed out again
	FactTakenOver                    // an instance was taken whose holder's lock had run out
	FactWaitOver                     // work that nobody had admitted until then was handed out
	FactHealthyPoisoned              // work that a live node runs was poisoned without enough chargeable deliveries
	FactSessionTakenOver             // an activity went to another owner than the one that its session had
	FactDeleted                      // an instance was deleted
	FactDeletedRunning               // the deleted instance was running
	FactDeletedHeld                  // somebody held the deleted instance
	FactLateAck                      // an ack came for what was fetched before its instance was deleted, and was refused
	FactPruned                       // an execution was pruned
	FactPrunedAtWork                 // the pruned execution's instance was held or had messages queued
	FactCarried                      // a continue-as-new carried an unread queue message over
	FactCarryLimit                   // a continue-as-new carried as many events as allowed
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
