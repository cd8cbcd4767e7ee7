package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
)

// Probe is an actor that makes raw provider calls to reach states that nodes never produce: empty or multi-range
// filters, abandons with ignore_attempt, locks held too long, and acks that re-pin or make false claims. A probe does
// only what the contract allows any caller to do. It re-enqueues any messages it consumes, so healthy work stays
// healthy.
//
// A probe does one of five things: it fetches turns (Filter), fetches activities (Work), sends a message (Send),
// deletes or prunes (Sweep), or reads (Look). Probes act only during the fault phase. If a probe still holds a lock
// when recovery begins, it lets the lock expire.
type Probe struct {
	Name string
	// Build is the build whose codec the probe uses.
	Build string
	// Filter is the filter as text: "none" (empty), "any" (nil), or ranges separated by " | ".
	Filter string
	// Work makes the probe fetch activities. Filter must then be empty.
	Work bool
	// Send, if set, makes the probe enqueue a message of that kind for Instance instead of fetching. Filter must then
	// be empty.
	Send     Send
	Instance string
	// Sweep makes the probe delete or prune in bulk instead of fetching.
	Sweep Sweep
	// Look makes the probe read instead of fetching: the list of instances, and each instance's history, statistics and
	// keys.
	Look bool
	// Does lists the acts from which the probe picks one at random after each fetch. Empty means ActAbandon.
	Does []Act
	// Holds lists the hold times from which the probe picks one at random after each fetch. Empty means HoldLeast.
	Holds []Hold
	// Lock is the lock timeout of the probe's fetches; 0 means one second.
	Lock time.Duration
	// Delay is the delay of the probe's abandons and messages.
	Delay time.Duration `shrink:"number 0"`
	// Pin is the version to which ActRepin pins the execution.
	Pin *engine.Version
	// IgnoreAttempt is the ignore_attempt argument of the probe's abandons.
	IgnoreAttempt bool
	// From is the time of the probe's first act, Every is the interval between acts, and Count is the number of acts.
	From  time.Duration `shrink:"number 0"`
	Every time.Duration
	Count int `shrink:"number 1"`
}

// Act is an action that a probe takes on a fetched turn or activity.
type Act string

// The acts. An ack of a turn appends nothing and re-enqueues the consumed messages unchanged. If the execution has not
// begun or cannot be decoded, the probe abandons the turn instead.
const (
	ActAbandon Act = "abandon" // abandons it
	ActRenew   Act = "renew"   // renews the lock, then abandons it
	ActLeave   Act = "leave"   // does nothing, so that the lock expires
	ActAck     Act = "ack"     // acknowledges it
	ActTwice   Act = "twice"   // acknowledges it, then tries to ack, renew and abandon with the spent token
	ActForge   Act = "forge"   // tries to ack, renew and abandon with a token that was never issued, then abandons it
	// For turns only:
	ActRepin      Act = "repin"      // acknowledges it with a different pin
	ActBehind     Act = "behind"     // acknowledges it for the previous execution
	ActContradict Act = "contradict" // sends the opposite outcome of a completion in its history, then abandons it
)

// Acts returns all acts. Acts for turns only come last.
func Acts() []Act {
	return []Act{ActAbandon, ActRenew, ActLeave, ActAck, ActTwice, ActForge, ActRepin, ActBehind, ActContradict}
}

// ForTurns reports whether the act is for turns only.
func (a Act) ForTurns() bool { return a == ActRepin || a == ActBehind || a == ActContradict }

// Hold is the time for which a probe keeps a fetched item.
type Hold string

// The hold times, relative to the probe's lock timeout.
const (
	HoldLeast   Hold = "least"   // no time
	HoldTypical Hold = "typical" // between an eighth and half of the lock timeout
	HoldBefore  Hold = "before"  // until just before the lock expires
	HoldAfter   Hold = "after"   // until just after the lock expires
)

// Holds returns all hold times.
func Holds() []Hold { return []Hold{HoldLeast, HoldTypical, HoldBefore, HoldAfter} }

// Send is the kind of message that a probe enqueues.
type Send string

// The kinds of messages that probes enqueue.
const (
	SendStart   Send = "start"   // starts one of the plan's instances with its client's message
	SendMessage Send = "message" // a queue message to any instance
)

// Sends returns all kinds of messages that probes can send.
func Sends() []Send { return []Send{SendStart, SendMessage} }

// Sweep is what a probe deletes or prunes in bulk.
type Sweep string

// The kinds of sweeps.
const (
	SweepInstances  Sweep = "instances"  // deletes every ended root and its descendants
	SweepExecutions Sweep = "executions" // prunes every execution that is neither current nor running
)

// Sweeps returns all kinds of sweeps.
func Sweeps() []Sweep { return []Sweep{SweepInstances, SweepExecutions} }

// LockLeast is the minimum lock timeout of a probe.
const LockLeast = 100 * time.Millisecond

// LockFor returns the lock timeout of the probe's fetches: Lock, or the default if Lock is 0.
func (p *Probe) LockFor() time.Duration { return cmp.Or(p.Lock, time.Second) }

// probeEvery is the shortest time between two acts of a probe.
const probeEvery = time.Millisecond

func (v *validation) probes() {
	for i := range v.plan.Probes {
		p := &v.plan.Probes[i]
		what := "probe " + p.Name
		v.part = what
		if slices.ContainsFunc(v.plan.Probes[:i], func(b Probe) bool { return b.Name == p.Name }) {
			v.fail("%s: another probe has that name", what)
		}
		v.build(what, p.Build)
		v.probeAim(what, p)
		v.id(what+": instance", p.Instance)
		for _, a := range p.Does {
			if !slices.Contains(Acts(), a) {
				v.fail("%s: unknown act %q: want one of %v", what, a, Acts())
			}
		}
		if err := p.Check(); err != nil {
			v.fail("%v", err)
		}
		for _, h := range p.Holds {
			if !slices.Contains(Holds(), h) {
				v.fail("%s: holds %q: want one of %v", what, h, Holds())
			}
		}
		if p.Lock != 0 && p.Lock < LockLeast {
			v.fail("%s: locks for %v: want at least %v", what, p.Lock, LockLeast)
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

// Check returns an error if what the probe does and holds does not go together, or not with what it is for.
func (p *Probe) Check() error {
	repins, what := slices.Contains(p.Does, ActRepin), ""
	switch {
	case p.Sweep != "":
		what = "sweeps"
	case p.Look:
		what = "looks"
	case p.Send != "":
		what = "sends"
	}
	switch {
	case p.Work && slices.ContainsFunc(p.Does, Act.ForTurns):
		return fmt.Errorf("probe %s fetches activities: repin, behind and contradict are only for turns", p.Name)
	case what != "" && len(p.Does)+len(p.Holds) > 0:
		return fmt.Errorf("probe %s %s: expected no \"does\" or \"holds\", since it holds nothing", p.Name, what)
	case repins && p.Pin == nil:
		return fmt.Errorf("probe %s does repin: expected \"to\" and a version", p.Name)
	case !repins && p.Pin != nil:
		return fmt.Errorf("probe %s: \"to %s\" is only for \"does repin\"", p.Name, p.Pin)
	}
	return nil
}

// probeAim validates a probe's target, which is exactly one of turns, activities, a message to send, and a sweep.
func (v *validation) probeAim(what string, p *Probe) {
	aims := 0
	for _, is := range []bool{p.Filter != "", p.Work, p.Send != "", p.Sweep != "", p.Look} {
		if is {
			aims++
		}
	}
	switch {
	case aims != 1:
		v.fail("%s: want exactly one of a filter, activities, something to send, something to sweep, or a look", what)
	case p.Filter != "":
		if _, err := ParseFilter(p.Filter); err != nil {
			v.fail("%s: %v", what, err)
		}
	case p.Sweep != "" && !slices.Contains(Sweeps(), p.Sweep):
		v.fail("%s: sweeps %q: want one of %v", what, p.Sweep, Sweeps())
	case p.Send == "":
	case !slices.Contains(Sends(), p.Send):
		v.fail("%s: sends %q: want one of %v", what, p.Send, Sends())
	case p.Instance == "":
		v.fail("%s: sends %s without naming an instance", what, p.Send)
	case p.Send == SendStart && !slices.ContainsFunc(v.plan.Instances, func(in Instance) bool { return in.ID == p.Instance }):
		v.fail("%s: sends the start of %q, which is not an instance of the plan", what, p.Instance)
	}
	if p.Instance != "" && p.Send == "" {
		v.fail("%s: names instance %q but sends it nothing", what, p.Instance)
	}
}

// ParseFilter parses "any", "none", or ranges separated by " | ".
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
