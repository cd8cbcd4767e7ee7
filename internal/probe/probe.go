package probe

import (
	"time"

	"github.com/durosim/durosim/engine"
)

// Probe is an actor that makes raw provider calls to reach states that nodes never cause: filters that are empty or
// have several ranges, abandons with ignore_attempt, locks held for too long, and acks that re-pin or make false
// claims. A probe does only what the contract allows any caller to do, and it enqueues again any messages that it
// consumes, so healthy work stays healthy.
//
// A probe does one of five things: it fetches turns (Filter), fetches activities (Work), sends a message (Send),
// deletes or prunes (Sweep), or reads (Look). Probes act only during turbulence. If a probe still holds a lock when
// calm begins, it lets the lock expire.
type Probe struct {
	Name string
	// Build is the build whose codec the probe uses.
	Build string
	// Filter is the text of the filter: "none" (empty), "any" (nil), or ranges separated by " | ".
	Filter string
	// Work makes the probe fetch activities. Filter must then be empty.
	Work bool
	// Send, if set, makes the probe enqueue a message of the given kind for Instance instead of fetching. Filter must
	// then be empty.
	Send     Send
	Instance string
	// Sweep makes the probe delete or prune in bulk instead of fetching.
	Sweep Sweep
	// Look makes the probe read instead of fetching: the list of instances, and each instance's history, statistics and
	// keys.
	Look bool
	// Does lists what the probe may do after a fetch. It picks one at random each time. Empty means ActAbandon.
	Does []Act
	// Holds lists how long the probe may wait before it acts. It picks one at random each time. Empty means HoldLeast.
	Holds []Hold
	// Lock is the lock timeout of the probe's fetches; 0 means one second.
	Lock time.Duration
	// Delay is the delay of the probe's abandons and messages.
	Delay time.Duration
	// Pin is the version to which ActRepin pins the execution.
	Pin *engine.Version
	// IgnoreAttempt is the ignore_attempt argument of the probe's abandons.
	IgnoreAttempt bool
	// From is when the probe first acts, Every is the interval between acts, and Count is how many times it acts.
	From  time.Duration
	Every time.Duration
	Count int
}

// Act says what a probe does with a turn or activity that it has fetched.
type Act string

// What a probe can do. When a probe acknowledges a turn, it appends nothing and enqueues the consumed messages again,
// unchanged. If the execution has not begun or cannot be decoded, the probe abandons it instead.
const (
	ActAbandon Act = "abandon" // abandons it
	ActRenew   Act = "renew"   // renews the lock, then abandons it
	ActLeave   Act = "leave"   // does nothing, so the lock expires
	ActAck     Act = "ack"     // acknowledges it
	ActTwice   Act = "twice"   // acknowledges it, then tries to ack, renew and abandon with the spent token
	ActForge   Act = "forge"   // tries to ack, renew and abandon with a token that was never issued, then abandons it
	// For turns only:
	ActRepin      Act = "repin"      // acknowledges it with a different pin
	ActBehind     Act = "behind"     // acknowledges it for the previous execution
	ActContradict Act = "contradict" // sends the opposite outcome of a completion in its history, then abandons it
)

// Acts returns every act. Those that are for turns only come last.
func Acts() []Act {
	return []Act{ActAbandon, ActRenew, ActLeave, ActAck, ActTwice, ActForge, ActRepin, ActBehind, ActContradict}
}

// ForTurns reports whether the act is for turns only.
func (a Act) ForTurns() bool { return a == ActRepin || a == ActBehind || a == ActContradict }

// Hold says for how long a probe keeps a fetched item.
type Hold string

// The hold times, relative to the probe's lock timeout.
const (
	HoldLeast   Hold = "least"   // no time at all
	HoldTypical Hold = "typical" // between an eighth and half of the lock timeout
	HoldBefore  Hold = "before"  // until just before the lock expires
	HoldAfter   Hold = "after"   // until just after the lock expires
)

// Holds returns every hold time.
func Holds() []Hold { return []Hold{HoldLeast, HoldTypical, HoldBefore, HoldAfter} }

// Send says what kind of message a probe enqueues.
type Send string

// The messages that probes enqueue.
const (
	SendStart   Send = "start"   // starts one of the plan's instances, with the message that its client sends
	SendMessage Send = "message" // a queue message to any instance
)

// Sends returns every kind of message that probes can send.
func Sends() []Send { return []Send{SendStart, SendMessage} }

// Sweep says what a probe deletes or prunes in bulk.
type Sweep string

// What a sweep can remove.
const (
	SweepInstances  Sweep = "instances"  // deletes every root that has ended, and its descendants
	SweepExecutions Sweep = "executions" // prunes every execution that is neither current nor running
)

// Sweeps returns every kind of sweep.
func Sweeps() []Sweep { return []Sweep{SweepInstances, SweepExecutions} }

// LockLeast is the shortest lock timeout of a probe.
const LockLeast = 100 * time.Millisecond

// probeLock is a probe's lock timeout if the plan does not set one.
const probeLock = time.Second

// LockFor returns the lock timeout of the probe's fetches: Lock, or the default if Lock is 0.
func (p *Probe) LockFor() time.Duration {
	if p.Lock == 0 {
		return probeLock
	}
	return p.Lock
}
