package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
)

// Probe is an actor that makes raw provider calls, to reach what nodes never do: filters that are empty or hold several
// ranges, abandons with ignore_attempt, locks that are held for too long, acks that re-pin or say what is not so. It does
// only what the contract lets any caller do, and puts back what it consumes, so that healthy work stays healthy.
//
// It fetches turns with Filter; or activities, with Work; or it sends a message, with Send; or it deletes or prunes, with Sweep. Probes act in turbulence
// only: what one still holds when calm begins runs out.
type Probe struct {
	Name string
	// Build is the codec with which it decodes and encodes.
	Build string
	// Filter is the text of the filter: "none" (empty), "any" (nil), or ranges separated by " | ".
	Filter string
	// Work says that it fetches activities; then Filter is empty.
	Work bool
	// Send says what it enqueues instead of fetching, and for which Instance; then Filter is empty, too.
	Send     ProbeSend
	Instance string
	// Sweep says what it deletes or prunes in bulk instead of fetching.
	Sweep ProbeSweep
	// Does is what it does with what it got: one of these, drawn each time. None is ActAbandon.
	Does []ProbeAct
	// Holds is for how long it keeps what it got before: one of these classes, drawn each time. None is HoldLeast.
	Holds []ProbeHold
	// Lock is for how long it locks; 0 is a second.
	Lock time.Duration
	// Delay is that of its abandons and of what it sends.
	Delay time.Duration
	// Pin is what ActRepin pins to.
	Pin *engine.Version
	// IgnoreAttempt is how it abandons.
	IgnoreAttempt bool
	// From, Every and Count say when it acts.
	From  time.Duration
	Every time.Duration
	Count int
}

// ProbeAct is what a probe does with what it has fetched.
type ProbeAct string

// What probes do. An ack of a probe appends nothing, and what it consumes it enqueues again as it was. What has not begun
// or cannot be decoded is given back instead.
const (
	ActAbandon ProbeAct = "abandon" // gives it back
	ActRenew   ProbeAct = "renew"   // renews the lock, then gives it back
	ActLeave   ProbeAct = "leave"   // does nothing, so that the lock runs out
	ActAck     ProbeAct = "ack"     // acknowledges it
	ActTwice   ProbeAct = "twice"   // acknowledges it, and uses the dead token again: ack, renewal, abandon
	ActForge   ProbeAct = "forge"   // acknowledges, renews and abandons with a token that nobody gave out; then gives it back
	// For turns only:
	ActRepin      ProbeAct = "repin"      // acknowledges it with another pin
	ActBehind     ProbeAct = "behind"     // acknowledges it for the execution before the current one
	ActContradict ProbeAct = "contradict" // sends the other outcome of a completion in its history, then gives it back
)

// ProbeActs are all acts, those for turns only last.
func ProbeActs() []ProbeAct {
	return []ProbeAct{ActAbandon, ActRenew, ActLeave, ActAck, ActTwice, ActForge, ActRepin, ActBehind, ActContradict}
}

// ForTurns says whether the act makes no sense for an activity.
func (a ProbeAct) ForTurns() bool { return a == ActRepin || a == ActBehind || a == ActContradict }

// ProbeHold is a class of times for which a probe keeps what it has fetched.
type ProbeHold string

// The classes of times, by the lock that the probe took.
const (
	HoldLeast   ProbeHold = "least"   // no time at all
	HoldTypical ProbeHold = "typical" // an eighth to a half of the lock
	HoldBefore  ProbeHold = "before"  // until just before the lock runs out
	HoldAfter   ProbeHold = "after"   // until it has just run out
)

// ProbeHolds are all classes.
func ProbeHolds() []ProbeHold { return []ProbeHold{HoldLeast, HoldTypical, HoldBefore, HoldAfter} }

// ProbeSend is what a probe enqueues.
type ProbeSend string

// What probes enqueue.
const (
	SendStart   ProbeSend = "start"   // the start of an instance of the plan, as its client sends it
	SendMessage ProbeSend = "message" // a queue message, for whatever instance
)

// ProbeSends are all of these.
func ProbeSends() []ProbeSend { return []ProbeSend{SendStart, SendMessage} }

// ProbeSweep is what a probe deletes or prunes in bulk.
type ProbeSweep string

// What probes sweep.
const (
	SweepInstances  ProbeSweep = "instances"  // deletes every root that has ended, with its tree
	SweepExecutions ProbeSweep = "executions" // prunes every execution that is neither current nor running
)

// ProbeSweeps are all of these.
func ProbeSweeps() []ProbeSweep { return []ProbeSweep{SweepInstances, SweepExecutions} }

// ProbeLockLeast is the shortest time for which a probe may lock.
const ProbeLockLeast = 100 * time.Millisecond

const (
	probeLock  = time.Second      // for how long a probe locks if the plan does not say
	probeEvery = time.Millisecond // the shortest time between two acts of a probe
)

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

// probeAim validates what a probe acts on: one of turns, activities, and messages of its own.
func (v *validation) probeAim(what string, p *Probe) {
	aims := 0
	for _, is := range []bool{p.Filter != "", p.Work, p.Send != "", p.Sweep != ""} {
		if is {
			aims++
		}
	}
	switch {
	case aims != 1:
		v.fail("%s: want a filter, activities, something to send or something to sweep, and one of these only", what)
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
