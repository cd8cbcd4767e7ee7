package properties

// fact is something that checkers notice while they judge, and that needs no more said. Who wants to know it subscribes.
type fact uint8

const (
	factAckAfterExpiry   fact = iota // a turn's ack came after its lock had run out, and nobody had taken it
	factAnswerLost                   // an ack took effect, and its node was told of a failure
	factActivityRetaken              // an activity was handed out again
	factTakenOver                    // an instance was taken whose holder's lock had run out
	factWaitOver                     // work that nobody had admitted was handed out
	factHealthyPoisoned              // work that a live node runs was poisoned without enough chargeable deliveries
	factSessionTakenOver             // an activity went to another owner than the one that its session had
	factDeleted                      // an instance was deleted
	factDeletedRunning               // that was running
	factDeletedHeld                  // that somebody held
	factLateAck                      // an ack came for what was fetched before its instance was deleted, and was refused
	factPruned                       // an execution was pruned
	factPrunedAtWork                 // of an instance that was held or had messages queued
	factCarried                      // a continue-as-new carried an unread queue message over
	factCarryLimit                   // a continue-as-new carried as many as it may
	factKVMerged                     // the end of an execution merged key-value changes
	factTombstoneMerged              // such a merge removed a key
	facts
)

// onFact has f told of every fact from now on. It may be called once.
func (m *run) onFact(f func(fact)) { m.tell = f }

func (m *run) happened(f fact) {
	if m.tell != nil {
		m.tell(f)
	}
}
