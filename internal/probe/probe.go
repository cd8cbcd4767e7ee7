package probe

import (
	"time"

	"github.com/durosim/durosim/engine"
)

// Probe is an actor that makes raw provider calls, to reach states that nodes never cause: filters that are empty or
// hold several ranges, abandons with ignore_attempt, locks held for too long, acks that re-pin or make false claims. It
// does only what the contract lets any caller do, and it puts back the messages that it consumes, so that healthy work
// stays healthy.
//
// A probe does one of five things: it fetches turns (Filter), fetches activities (Work), sends a message (Send), deletes or
// prunes (Sweep), or reads (Look). Probes act only during turbulence: a lock that a probe still holds when calm begins
// runs out.
type Probe struct {
	Name string
	// Build is the build whose codec the probe uses to decode and encode.
	Build string
	// Filter is the text of the filter: "none" (empty), "any" (nil), or ranges separated by " | ".
	Filter string
	// Work makes the probe fetch activities. Filter is then empty.
	Work bool
	// Send, if set, makes the probe enqueue a message of this kind for Instance instead of fetching. Filter must then
	// be empty.
	Send     Send
	Instance string
	// Sweep makes the probe delete or prune in bulk instead of fetching.
	Sweep Sweep
	// Look makes the probe read instead: the list of instances, and each instance's history, statistics and keys.
	Look bool
	// Does lists the acts that may follow a fetch; the probe draws one each time. Empty means ActAbandon.
	Does []Act
	// Holds lists how long the probe may wait before it acts; it draws one class each time. Empty means HoldLeast.
	Holds []Hold
	// Lock is the lock timeout of its fetches; 0 means one second.
	Lock time.Duration
	// Delay is the delay of the abandons and messages that it sends.
	Delay time.Duration
	// Pin is the version that ActRepin pins to.
	Pin *engine.Version
	// IgnoreAttempt is the ignore_attempt argument of its abandons.
	IgnoreAttempt bool
	// From is the time of the first act, Every the time from one act to the next, and Count the number of acts.
	From  time.Duration
	Every time.Duration
	Count int
}

// Act is what a probe does with a turn or activity that it has fetched.
type Act string

// The acts of probes. A probe's ack appends nothing and enqueues again, unchanged, the messages that it consumes. If
// the work has not begun or cannot be decoded, the probe abandons it instead.
const (
	ActAbandon Act = "abandon" // gives it back
	ActRenew   Act = "renew"   // renews the lock, then gives it back
	ActLeave   Act = "leave"   // does nothing, so that the lock runs out
	ActAck     Act = "ack"     // acknowledges it
	ActTwice   Act = "twice"   // acknowledges it, then uses the dead token to ack, renew and abandon
	ActForge   Act = "forge"   // acknowledges, renews and abandons with a token that nobody issued; then gives it back
	// For turns only:
	ActRepin      Act = "repin"      // acknowledges it with another pin
	ActBehind     Act = "behind"     // acknowledges it for the execution before the current one
	ActContradict Act = "contradict" // sends the other outcome of a completion in its history, then gives it back
)

// Acts returns every act. The acts for turns only come last.
func Acts() []Act {
	return []Act{ActAbandon, ActRenew, ActLeave, ActAck, ActTwice, ActForge, ActRepin, ActBehind, ActContradict}
}

// ForTurns reports whether the act is for turns only.
func (a Act) ForTurns() bool { return a == ActRepin || a == ActBehind || a == ActContradict }

// Hold is a class of durations for which a probe keeps a fetched item.
type Hold string

// The classes of hold times, relative to the probe's lock.
const (
	HoldLeast   Hold = "least"   // no time at all
	HoldTypical Hold = "typical" // an eighth to a half of the lock
	HoldBefore  Hold = "before"  // until just before the lock expires
	HoldAfter   Hold = "after"   // until just after the lock expires
)

// Holds returns every class.
func Holds() []Hold { return []Hold{HoldLeast, HoldTypical, HoldBefore, HoldAfter} }

// Send is the kind of message that a probe enqueues.
type Send string

// The messages that probes enqueue.
const (
	SendStart   Send = "start"   // the start of an instance of the plan, as its client sends it
	SendMessage Send = "message" // a queue message, for any instance
)

// Sends returns every kind of message that probes can send.
func Sends() []Send { return []Send{SendStart, SendMessage} }

// Sweep is a kind of bulk deletion or pruning.
type Sweep string

// The targets of sweeps.
const (
	SweepInstances  Sweep = "instances"  // deletes every root that has ended, with its tree
	SweepExecutions Sweep = "executions" // prunes every execution that is neither current nor running
)

// Sweeps returns every target of a sweep.
func Sweeps() []Sweep { return []Sweep{SweepInstances, SweepExecutions} }

// LockLeast is the shortest lock timeout of a probe.
const LockLeast = 100 * time.Millisecond

// probeLock is the lock timeout of a probe if the plan does not set one.
const probeLock = time.Second

// LockFor returns the lock timeout of the probe's fetches: Lock, or the default if Lock is 0.
func (p *Probe) LockFor() time.Duration {
	if p.Lock == 0 {
		return probeLock
	}
	return p.Lock
}
