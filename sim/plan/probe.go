package plan

import (
	"fmt"
	"slices"
	"strings"
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
	Send     ProbeSend
	Instance string
	// Sweep is what it deletes or prunes in bulk instead of fetching.
	Sweep ProbeSweep
	// Look makes it read instead: the list of instances, and of each its history, statistics and keys.
	Look bool
	// Does lists what it may do with what it fetched; one is drawn each time. Empty means ActAbandon.
	Does []ProbeAct
	// Holds lists how long it may keep that first; one class is drawn each time. Empty means HoldLeast.
	Holds []ProbeHold
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

// ProbeAct is the treatment that a probe gives to what it has fetched.
type ProbeAct string

// The acts of probes. A probe's ack appends nothing and enqueues again, unchanged, what it consumes. Work that has not
// begun or cannot be decoded is given back instead.
const (
	ActAbandon ProbeAct = "abandon" // gives it back
	ActRenew   ProbeAct = "renew"   // renews the lock, then gives it back
	ActLeave   ProbeAct = "leave"   // does nothing, so that the lock runs out
	ActAck     ProbeAct = "ack"     // acknowledges it
	ActTwice   ProbeAct = "twice"   // acknowledges it, and uses the dead token again: ack, renewal, abandon
	ActForge   ProbeAct = "forge"   // acknowledges, renews and abandons with a token that nobody issued; then gives it back
	// For turns only:
	ActRepin      ProbeAct = "repin"      // acknowledges it with another pin
	ActBehind     ProbeAct = "behind"     // acknowledges it for the execution before the current one
	ActContradict ProbeAct = "contradict" // sends the other outcome of a completion in its history, then gives it back
)

// ProbeActs returns every act, with those for turns only at the end.
func ProbeActs() []ProbeAct {
	return []ProbeAct{ActAbandon, ActRenew, ActLeave, ActAck, ActTwice, ActForge, ActRepin, ActBehind, ActContradict}
}

// ForTurns reports whether the act is for turns only.
func (a ProbeAct) ForTurns() bool { return a == ActRepin || a == ActBehind || a == ActContradict }

// ProbeHold is a class of durations for which a probe keeps what it has fetched.
type ProbeHold string

// The classes of hold times, relative to the probe's lock.
const (
	HoldLeast   ProbeHold = "least"   // no time at all
	HoldTypical ProbeHold = "typical" // an eighth to a half of the lock
	HoldBefore  ProbeHold = "before"  // until just before the lock runs out
	HoldAfter   ProbeHold = "after"   // until it has just run out
)

// ProbeHolds returns every class.
func ProbeHolds() []ProbeHold { return []ProbeHold{HoldLeast, HoldTypical, HoldBefore, HoldAfter} }

// ProbeSend is the kind of message that a probe enqueues.
type ProbeSend string

// The messages that probes enqueue.
const (
	SendStart   ProbeSend = "start"   // the start of an instance of the plan, as its client sends it
	SendMessage ProbeSend = "message" // a queue message, for any instance
)

// ProbeSends returns everything that probes can send.
func ProbeSends() []ProbeSend { return []ProbeSend{SendStart, SendMessage} }

// ProbeSweep is a kind of bulk deletion or pruning by a probe.
type ProbeSweep string

// The targets of sweeps.
const (
	SweepInstances  ProbeSweep = "instances"  // deletes every root that has ended, with its tree
	SweepExecutions ProbeSweep = "executions" // prunes every execution that is neither current nor running
)

// ProbeSweeps returns every target of a sweep.
func ProbeSweeps() []ProbeSweep { return []ProbeSweep{SweepInstances, SweepExecutions} }

// ProbeLockLeast is the shortest time for which a probe may lock.
const ProbeLockLeast = 100 * time.Millisecond

const (
	probeLock  = time.Second      // how long a probe locks if the plan does not say
	probeEvery = time.Millisecond // the shortest time between two acts of a probe
)

// LockFor returns how long the probe locks what it fetches: Lock, or the default if that is 0.
func (p *Probe) LockFor() time.Duration {
	if p.Lock == 0 {
		return probeLock
	}
	return p.Lock
}

// probes validates the probes of a plan.
func (v *validation) probes() {
	for i := range v.plan.Probes {
		p := &v.plan.Probes[i]
		what := "probe " + p.Name
		v.build(what, p.Build)
		v.probeAim(what, p)
		for _, a := range p.Does {
			switch {
			case !slices.Contains(ProbeActs(), a):
				v.fail("%s: unknown act %q: want one of %v", what, a, ProbeActs())
			case p.Sweep != "":
				v.fail("%s: it sweeps, and has nothing to %s", what, a)
			case p.Send != "":
				v.fail("%s: it sends, and has nothing to %s", what, a)
			case p.Look:
				v.fail("%s: it looks, and has nothing to %s", what, a)
			case p.Work && a.ForTurns():
				v.fail("%s: %s is for turns, and it fetches activities", what, a)
			}
		}
		if repins := slices.Contains(p.Does, ActRepin); repins != (p.Pin != nil) {
			v.fail("%s: want a pin where it does repin, and only there", what)
		}
		for _, h := range p.Holds {
			if !slices.Contains(ProbeHolds(), h) {
				v.fail("%s: holds %q: want one of %v", what, h, ProbeHolds())
			}
		}
		if p.Lock != 0 && p.Lock < ProbeLockLeast {
			v.fail("%s: locks for %v: want at least %v", what, p.Lock, ProbeLockLeast)
		}
		if p.Delay < 0 {
			v.fail("%s: delays by %v", what, p.Delay)
		}
		if p.From < 0 {
			v.fail("%s: from %v, before the start", what, p.From)
		}
		if p.Count < 0 || p.Every < probeEvery {
			v.fail("%s: %d times every %v: want a count and at least %v between", what, p.Count, p.Every, probeEvery)
		}
	}
}

// probeAim validates what a probe acts on: exactly one of turns, activities, a message to send, or a sweep.
func (v *validation) probeAim(what string, p *Probe) {
	aims := 0
	for _, is := range []bool{p.Filter != "", p.Work, p.Send != "", p.Sweep != "", p.Look} {
		if is {
			aims++
		}
	}
	switch {
	case aims != 1:
		v.fail("%s: want a filter, activities, something to send, something to sweep or a look, and one of these only", what)
	case p.Filter != "":
		if _, err := ParseFilter(p.Filter); err != nil {
			v.fail("%s: %v", what, err)
		}
	case p.Sweep != "" && !slices.Contains(ProbeSweeps(), p.Sweep):
		v.fail("%s: sweeps %q: want one of %v", what, p.Sweep, ProbeSweeps())
	case p.Send == "":
	case !slices.Contains(ProbeSends(), p.Send):
		v.fail("%s: sends %q: want one of %v", what, p.Send, ProbeSends())
	case p.Instance == "":
		v.fail("%s: sends %s to no instance", what, p.Send)
	case p.Send == SendStart && !slices.ContainsFunc(v.plan.Instances, func(in Instance) bool { return in.ID == p.Instance }):
		v.fail("%s: sends the start of %q, which is no instance of the plan", what, p.Instance)
	}
	if p.Instance != "" && p.Send == "" {
		v.fail("%s: names instance %q and sends it nothing", what, p.Instance)
	}
}

// ParseFilter reads "any", "none", or ranges separated by " | ".
func ParseFilter(text string) (*engine.CapabilityFilter, error) {
	switch text {
	case "any":
		return nil, nil
	case "none":
		return &engine.CapabilityFilter{}, nil
	}
	f := &engine.CapabilityFilter{}
	for part := range strings.SplitSeq(text, "|") {
		r, err := engine.ParseRange(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("filter %q: %w", text, err)
		}
		f.SupportedVersions = append(f.SupportedVersions, r)
	}
	return f, nil
}
