package scenario

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/plan"
)

func drawProbe(t *rapid.T, called string, name *rapid.Generator[string], instances []plan.Instance) plan.Probe {
	at := rapid.Map(rapid.Int64Range(0, 200_000_000), func(us int64) time.Duration { return time.Duration(us) * time.Microsecond })
	build := rapid.SampledFrom([]string{"0.8.0", "1.5.0", "2.0.0"})
	b := plan.Probe{
		Name: called, Build: build.Draw(t, "build"), IgnoreAttempt: rapid.Bool().Draw(t, "ignore"), From: at.Draw(t, "from"),
		Every: time.Millisecond + at.Draw(t, "every"), Count: rapid.IntRange(0, 9).Draw(t, "count"),
	}
	if rapid.Bool().Draw(t, "delays") {
		b.Delay = time.Millisecond + at.Draw(t, "delay")
	}
	acts := plan.Acts()
	switch rapid.SampledFrom([]string{"turns", "work", "start", "message", "sweep"}).Draw(t, "aim") {
	case "work":
		b.Work = true
		acts = slices.DeleteFunc(acts, plan.Act.ForTurns)
	case "start":
		if len(instances) > 0 {
			b.Send, b.Instance = plan.SendStart, rapid.SampledFrom(instances).Draw(t, "started").ID
			return b
		}
		fallthrough
	case "message":
		b.Send, b.Instance = plan.SendMessage, name.Draw(t, "to")
		return b
	case "sweep":
		b.Sweep = rapid.SampledFrom(plan.Sweeps()).Draw(t, "sweeps")
		return b
	default:
		b.Filter = rapid.SampledFrom([]string{"none", "any", "1.x", ">=1.0.0, <=2.0.0 | 3.x"}).Draw(t, "filter")
	}
	b.Does = append(b.Does, rapid.SliceOfNDistinct(rapid.SampledFrom(acts), 0, 4, rapid.ID).Draw(t, "does")...)
	if slices.Contains(b.Does, plan.ActRepin) {
		v := engine.V(rapid.Uint32Range(0, 1500).Draw(t, "repin"), 0, 0)
		b.Pin = &v
	}
	b.Holds = append(b.Holds, rapid.SliceOfNDistinct(rapid.SampledFrom(plan.Holds()), 0, 4, rapid.ID).Draw(t, "holds")...)
	if rapid.Bool().Draw(t, "locks") {
		b.Lock = plan.LockLeast + at.Draw(t, "lock")
	}
	return b
}
