package monitor_test

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/properties/internal/track"
	"github.com/durosim/durosim/sim/cluster"
)

// watch adds a separate tracker to a rig, which prints the facts for listeners as they happen. In a story, "state"
// prints the state, without what was so when it was printed last, and "relations" prints what each node can do with each
// instance and activity.
func watch(r *Rig) {
	s := track.New(r.M.Run)
	l := &teller{r: r}
	s.Subscribe(l)
	r.M.Add(s)
	var had []string
	r.Shows = map[string]func([]string) string{
		"state": func([]string) string {
			now, changed := state(r, s), []string(nil)
			for _, line := range now {
				if !slices.Contains(had, line) {
					changed = append(changed, line)
				}
			}
			had = now
			return cmp.Or(strings.Join(changed, "\n"), "  as before")
		},
		"relations": func([]string) string { return relations(r, s) },
		"asks":      func(words []string) string { l.asks = words[0]; return "from now on it asks for " + words[0] },
	}
}

// teller prints the facts for a listener that asks for no skipped instances, for the first one, or for all.
type teller struct {
	track.NopListener
	r    *Rig
	asks string
}

func (l *teller) OnAccepted(o *observe.Observation) {
	l.r.Print("- accepted message %d of %d", o.Message, o.Instance)
}
func (l *teller) OnDelivered(o *observe.Observation) {
	l.r.Print("- delivered %v of %d to node %d", o.Messages, o.Instance, o.Caller.Node)
}
func (l *teller) OnFetched(number uint32, d *track.Delivery) {
	l.r.Print("- fetched by node %d: %s", number, dump(*d))
}
func (l *teller) OnPassed(by observe.Caller, in *model.Instance) {
	l.r.Print("- passed %s by node %d", in.Name, by.Node)
}

func (l *teller) Passes() track.Passing {
	switch l.asks {
	case "first":
		return track.PassFirst
	case "all":
		return track.PassAll
	}
	return track.PassNone
}

func (l *teller) OnCommitted(number uint32, d *track.Delivery, no observe.InstanceNo, c *model.Call) {
	token := "unknown"
	if d != nil {
		token = d.Token
	}
	l.r.Print("- committed by node %d: delivery %s of %d, execution %d", number, token, no, c.Request.Ack.ExecutionID)
}

func (l *teller) OnNoted(n *track.Node, d *track.Delivery, note *machine.Note) {
	l.r.Print("- noted by node %d: %s about %s", n.Number, note.Decision, d.Token)
}
func (l *teller) OnWaits(in *model.Instance, sinceMs int64) {
	since := ""
	if sinceMs != l.r.w.Now {
		since = fmt.Sprintf(" since %d", after(sinceMs))
	}
	l.r.Print("- waits %s%s", in.Name, since)
}
func (l *teller) OnWaited(in *model.Instance) { l.r.Print("- waited %s", in.Name) }
func (l *teller) OnStarted(n *track.Node)     { l.r.Print("- started node %d, up %t", n.Number, n.Up) }
func (l *teller) OnCrashed(n *track.Node)     { l.r.Print("- crashed node %d, up %t", n.Number, n.Up) }
func (l *teller) OnHandlers(rec *cluster.Record) {
	l.r.Print("- handlers of node %d: %s", rec.Node, rec.Text)
}

// state returns a line with every nonzero field for each node, instance and message.
func state(r *Rig, s *track.State) []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	add("  phase %v since %d, recovery since %d", s.Phase, after(s.PhaseMs), after(s.RecoveryMs))
	for i := range s.Nodes {
		if s.Nodes[i].Incarnation > 0 {
			add("  node %s: live %t, %s", s.Run.NodeName(uint32(i+1)), s.Nodes[i].Live(), dump(s.Nodes[i]))
		}
	}
	for no := 1; no <= len(s.Run.Model.Instances)-1; no++ {
		add("  %s: %s", s.Run.Model.Name(observe.InstanceNo(no)), dump(*s.Instance(observe.InstanceNo(no))))
	}
	for no := 1; s.Run.Model.Pages() > 0 && no <= r.Messages(); no++ {
		add("  message %d: %s", no, dump(*s.Row(observe.MessageNo(no))))
	}
	return lines
}

func relations(r *Rig, s *track.State) string {
	var lines []string
	for no := 1; no <= len(s.Run.Model.Instances)-1; no++ {
		in := s.Run.Model.Instance(observe.InstanceNo(no))
		ok, since := s.Admitted(in)
		if since == model.NeverMs {
			since = 0
		}
		line := fmt.Sprintf("  %s: admitted %t since %d, any runs %t:", in.Name, ok, after(since), s.AnyRuns(in))
		for i := range s.Nodes {
			if n := &s.Nodes[i]; n.Build != nil {
				line += fmt.Sprintf(" %s admits %t reads %t runs %t,", s.Run.NodeName(n.Number), s.Admits(n, in), s.Reads(n, in), s.Runs(n, in))
			}
		}
		lines = append(lines, line+" why not: "+s.WhyNot(in))
		for _, w := range in.Work {
			line := "  message " + fmt.Sprint(w.No) + ":"
			for i := range s.Nodes {
				if s.Nodes[i].Build != nil {
					takes, has := s.Takes(&s.Nodes[i], w)
					line += fmt.Sprintf(" %s takes %t has %t,", s.Run.NodeName(uint32(i+1)), takes, has)
				}
			}
			lines = append(lines, line+" unserved: "+s.Unserved(w))
		}
	}
	return strings.Join(lines, "\n")
}

// after returns a store time relative to the start, except that 0 stays 0.
func after(ms int64) int64 {
	if ms == 0 {
		return 0
	}
	return ms - rig.StartMs
}

// dump prints a struct's nonzero plain fields. Times are relative to the start.
func dump(v any) string {
	var parts []string
	s := reflect.ValueOf(v)
	for i := range s.NumField() {
		f, name := s.Field(i), s.Type().Field(i).Name
		if f.IsZero() || name == "reads" { // what a build reads follows from Build
			continue
		}
		switch f.Kind() {
		case reflect.Bool:
			parts = append(parts, name)
		case reflect.Int, reflect.Int64:
			n := f.Int()
			if strings.HasSuffix(name, "Ms") && n >= rig.StartMs {
				n -= rig.StartMs
			}
			parts = append(parts, fmt.Sprintf("%s %d", name, n))
		case reflect.Uint8, reflect.Uint32, reflect.Uint64:
			parts = append(parts, fmt.Sprintf("%s %d", name, f.Uint()))
		case reflect.String:
			parts = append(parts, fmt.Sprintf("%s %s", name, f.String()))
		case reflect.Pointer:
			switch p := f; p.Type().Elem() {
			case reflect.TypeFor[engine.Build]():
				v := p.Elem().FieldByName("Version")
				parts = append(parts, fmt.Sprintf("%s %v.%v", name, v.FieldByName("Major"), v.FieldByName("Minor")))
			case reflect.TypeFor[engine.Version]():
				parts = append(parts, fmt.Sprintf("%s %v.%v", name, p.Elem().FieldByName("Major"), p.Elem().FieldByName("Minor")))
			}
		case reflect.Struct:
			if f.Type() == reflect.TypeFor[machine.TurnNote]() {
				parts = append(parts, "Turn "+f.FieldByName("Handler").String())
			}
		case reflect.Slice:
			for j := range f.Len() {
				switch e := f.Index(j); e.Kind() {
				case reflect.Uint64:
					parts = append(parts, fmt.Sprintf("%s[%d] %d", name, j, e.Uint()))
				case reflect.Struct:
					slot := e.FieldByName("Recent")
					for k := range slot.Len() {
						parts = append(parts, fmt.Sprintf("%s[%d] last %v: {%s}", name, j, e.FieldByName("Last"), dumpValue(slot.Index(k))))
					}
				}
			}
		}
	}
	return strings.Join(parts, ", ")
}

func dumpValue(v reflect.Value) string { return dump(v.Interface()) }
