package plan

import (
	"slices"
	"time"
)

// probeEvery is the shortest time between two acts of a probe.
const probeEvery = time.Millisecond

// probes validates the probes of a plan.
func (v *validation) probes() {
	for i := range v.plan.Probes {
		p := &v.plan.Probes[i]
		what := "probe " + p.Name
		v.build(what, p.Build)
		v.probeAim(what, p)
		for _, a := range p.Does {
			switch {
			case !slices.Contains(Acts(), a):
				v.fail("%s: unknown act %q: want one of %v", what, a, Acts())
			case p.Sweep != "":
				v.fail("%s: a probe that sweeps has nothing to %s", what, a)
			case p.Send != "":
				v.fail("%s: a probe that sends has nothing to %s", what, a)
			case p.Look:
				v.fail("%s: a probe that looks has nothing to %s", what, a)
			case p.Work && a.ForTurns():
				v.fail("%s: %s is only for turns, but the probe fetches activities", what, a)
			}
		}
		if repins := slices.Contains(p.Does, ActRepin); repins != (p.Pin != nil) {
			v.fail("%s: want a pin with repin, and only with repin", what)
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
