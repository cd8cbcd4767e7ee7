package probe

import (
	"time"

	"github.com/durosim/durosim/engine"
)

// Probe is an actor that makes raw provider calls, to reach what nodes never do: filters that are empty or hold several
// ranges, abandons with ignore_attempt, locks that are held for too long, acks that re-pin or make false claims. It does
// only what the contract lets any caller do, and puts back what it consumes, so that healthy work stays healthy.
//
// A probe does one of five things: it fetches turns (Filter), fetches activities (Work), sends a message (Send), deletes or
// prunes (Sweep), or reads (Look). Probes act only during turbulence: locks that one still holds when calm begins run out.
type Probe struct {
	Name string
	// Build is the codec with which it decodes and encodes.
	Build string
	// Filter is the text of the filter: "none" (empty), "any" (nil), or ranges separated by " | ".
	Filter string
	// Work makes it fetch activities; then Filter is empty.
	Work bool
	// Send is what it enqueues, for Instance, instead of fetching; then Filter is empty, too.
	Send     Send
	Instance string
	// Sweep is what it deletes or prunes in bulk instead of fetching.
	Sweep Sweep
	// Look makes it read instead: the list of instances, and of each its history, statistics and keys.
	Look bool
	// Does lists what it may do with what it fetched; one is drawn each time. Empty means ActAbandon.
	Does []Act
	// Holds lists how long it may keep that first; one class is drawn each time. Empty means HoldLeast.
	Holds []Hold
	// Lock is how long it locks what it fetches; 0 means a second.
	Lock time.Duration
	// Delay is the delay of its abandons and of what it sends.
	Delay time.Duration
	// Pin is the version that ActRepin pins to.
	Pin *engine.Version
	// IgnoreAttempt is the ignore_attempt of its abandons.
	IgnoreAttempt bool
	// From, Every and Count are when it first acts, the time from one act to the next, and the number of acts.
	From  time.Duration
	Every time.Duration
	Count int
}

// Act is the treatment that a probe gives to what it has fetched.
type Act string

// The acts of probes. A probe's ack appends nothing and enqueues again, unchanged, what it consumes. Work that has not
// begun or cannot be decoded is given back instead.
const (
	ActAbandon Act = "abandon" // gives it back
	ActRenew   Act = "renew"   // renews the lock, then gives it back
	ActLeave   Act = "leave"   // does nothing, so that the lock runs out
	ActAck     Act = "ack"     // acknowledges it
	ActTwice   Act = "twice"   // acknowledges it, and uses the dead token again: ack, renewal, abandon
	ActForge   Act = "forge"   // acknowledges, renews and abandons with a token that nobody issued; then gives it back
	// For turns only:
	ActRepin      Act = "repin"      // acknowledges it with another pin
	ActBehind     Act = "behind"     // acknowledges it for the execution before the current one
	ActContradict Act = "contradict" // sends the other outcome of a completion in its history, then gives it back
)

// Acts returns every act, with those for turns only at the end.
func Acts() []Act {
	return []Act{ActAbandon, ActRenew, ActLeave, ActAck, ActTwice, ActForge, ActRepin, ActBehind, ActContradict}
}

// ForTurns reports whether the act is for turns only.
func (a Act) ForTurns() bool { return a == ActRepin || a == ActBehind || a == ActContradict }

// Hold is a class of durations for which a probe keeps what it has fetched.
type Hold string

// The classes of hold times, relative to the probe's lock.
const (
	HoldLeast   Hold = "least"   // no time at all
	HoldTypical Hold = "typical" // an eighth to a half of the lock
	HoldBefore  Hold = "before"  // until just before the lock runs out
	HoldAfter   Hold = "after"   // until it has just run out
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

// Sends returns everything that probes can send.
func Sends() []Send { return []Send{SendStart, SendMessage} }

// Sweep is a kind of bulk deletion or pruning by a probe.
type Sweep string

// The targets of sweeps.
const (
	SweepInstances  Sweep = "instances"  // deletes every root that has ended, with its tree
	SweepExecutions Sweep = "executions" // prunes every execution that is neither current nor running
)

// Sweeps returns every target of a sweep.
func Sweeps() []Sweep { return []Sweep{SweepInstances, SweepExecutions} }

// LockLeast is the shortest time for which a probe may lock.
const LockLeast = 100 * time.Millisecond

// probeLock is how long a probe locks if the plan does not say.
const probeLock = time.Second

// LockFor returns how long the probe locks what it fetches: Lock, or the default if that is 0.
func (p *Probe) LockFor() time.Duration {
	if p.Lock == 0 {
		return probeLock
	}
	return p.Lock
}
