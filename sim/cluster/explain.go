package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/engine/orchhost"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim/plan"
)

// Explanation says why an instance is waiting: it gives the rule that applies and the values involved.
type Explanation struct {
	// Rule is one of not-started, deleted, ended, locked, not-admitted, no-slot, frozen, delayed, undecodable, ready,
	// activity, event, child, nothing.
	Rule string `json:"rule"`
	// Text is the rule as a sentence about the instance.
	Text string `json:"text"`
	// Cause is Text without times and nodes that hold the work for a while, and Needs says what must be so that the wait
	// ends, if more than time is needed.
	Cause, Needs string `json:"-"`
	// Unadmitted means that an instance that is not locked has messages, due or not, and no live node admits its pin.
	Unadmitted bool `json:"-"`
	// Details holds pairs of name and value in display order.
	Details []Detail `json:"details"`
	// untilMs is the store time at which the rule may change although nothing happens, or 0.
	untilMs int64
}

// Detail is a value of an Explanation.
type Detail struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Explain runs the plan up to a virtual time and returns what the instance is waiting for at that time. It returns an
// error if the configuration is invalid or the instance is unknown.
func Explain(cfg Config, instance string, at time.Duration) (*Explanation, error) {
	w, err := newWorld(&cfg)
	if err != nil {
		return nil, err
	}
	w.begin()
	for !w.ended {
		if next, ok := w.kernel.Peek(); !ok || next > w.start.Add(at) || !w.advance() {
			break
		}
	}
	if now := w.start.Add(at).Millis(); !w.ended && now > w.NowMs() {
		w.store.SetNow(now)
	}
	x, err := (&explainer{w, w.store.Now()}).explain(instance, at)
	if end := w.NowMs() - w.startMs(); err == nil && w.ended && end < at.Milliseconds() {
		x.Text += "; the run ended at " + pretty.Duration(end)
	}
	return x, err
}

// Expected is an Explanation that applies from a time on, in milliseconds since the start of the run.
type Expected struct {
	FromMs int64
	*Explanation
}

// Outlook returns what an instance is waiting for now, followed by what it will be waiting for later if nothing happens
// but that time passes. It is empty if the instance is unknown.
func (w *World) Outlook(instance string) (all []Expected) {
	for ms := w.store.Now(); ; {
		x, err := (&explainer{w, ms}).explain(instance, 0)
		if err != nil {
			return all
		}
		all = append(all, Expected{ms - w.startMs(), x})
		if x.untilMs <= ms {
			return all
		}
		ms = x.untilMs
	}
}

// explainer reads the world for an Explanation. now is the store time to look at, no earlier than the store's own.
type explainer struct {
	*World
	now int64
}

// explain explains the state at ex.now. at is used only in messages.
func (ex *explainer) explain(id string, at time.Duration) (*Explanation, error) {
	p, ok := ex.store.Peek(id)
	if !ok || !p.Created && !p.Starts {
		names := ex.instanceNames()
		x := &Explanation{Details: []Detail{}}
		if ex.deleted(id) {
			x.say("deleted", "it has been deleted; nothing takes messages that are sent to it")
			return x, nil
		}
		if slices.Contains(names, id) {
			x.say("not-started", "no client has started it yet")
			x.Needs = "the run must not end before that"
			return x, nil
		}
		sent := ""
		if ok {
			sent = ", only messages for it, which nothing will take"
		}
		hint := pretty.Hint(id, names)
		if len(names) > 8 {
			names = append(names[:8:8], "…")
		}
		return nil, fmt.Errorf("there is no instance %q at %v%s%s; the plan's instances are %s", id, at, sent, hint, cmp.Or(strings.Join(names, ", "), "none"))
	}
	now := ex.now
	x := &Explanation{Details: []Detail{
		{"time", pretty.Duration(now - ex.startMs())}, {"status", cmp.Or(string(p.Status), "not begun")}, {"execution", fmt.Sprint(p.Execution)}, {"pin", strings.TrimPrefix(pinned(p.Pin), "pinned ")},
		{"messages", fmt.Sprint(p.Messages)}, {"activities queued", fmt.Sprint(p.Activities)},
	}}
	ex.addRows(x, id)
	due := p.Messages > 0 && p.VisibleMs <= now
	x.Unadmitted = p.Messages > 0 && p.LockedUntilMs <= now && !ended(p.Status) && !ex.phases.admitted(p.Pin, 0)
	history, decodeErr := ex.clients.history(id)
	switch {
	case ended(p.Status):
		text := string(p.Status)
		if p.Output != nil {
			text = strings.TrimSuffix(fmt.Sprintf("%s: %.300s", text, *p.Output), ": ")
		}
		x.say("ended", "it has ended: %s", text)
	case p.LockedUntilMs > now:
		x.untilMs = p.LockedUntilMs
		x.say("locked", "%s holds its lock until %s", ex.who(ex.network.heldBy(id)), pretty.Duration(p.LockedUntilMs-ex.startMs()))
		x.Cause = "a node holds its lock"
	case due && !slices.ContainsFunc(ex.infos, func(n NodeInfo) bool { return n.Up }):
		x.say("not-admitted", "no node is up")
		ex.addFilters(x)
	case due && x.Unadmitted:
		x.say("not-admitted", "it is %s, and no live node admits that", pinned(p.Pin))
		ex.addFilters(x)
	case p.Messages > 0 && !x.Unadmitted && !ex.phases.admitted(p.Pin, 1):
		x.say("no-slot", "it is %s, and no live node that admits that has a slot for orchestrations", pinned(p.Pin))
		x.Needs = "a node that admits it must have such a slot (orchestration_concurrency)"
		ex.addFilters(x)
	case p.Messages > 0 && !due:
		x.untilMs = p.VisibleMs
		first := ex.firstMessage(id, p.VisibleMs)
		if first.Kind == engine.ItemTimerFired && first.Count == 0 { // perhaps the timer of a race that is over
			ex.explainOpen(x, id, &p, history)
			if x.Rule != "nothing" {
				x.Text += "; a timer is due at " + pretty.Duration(p.VisibleMs-ex.startMs())
				break
			}
			x.Needs = "" // the timer ends the wait
		}
		x.say("delayed", "its next message becomes visible at %s", pretty.Duration(p.VisibleMs-ex.startMs()))
		x.Cause = "its next message is not yet due"
		if first.Count > 0 {
			x.Text += ex.gaveBack(ex.network.heldBy(id))
		}
	case p.Messages > 0 && decodeErr != nil:
		x.say("undecodable", "its history cannot be decoded: %v; nodes abandon it until it is poisoned", decodeErr)
	case p.Messages > 0 && !ex.phases.admittedBy(p.Pin, 1, func(n *NodeInfo) bool { return !n.Paused }):
		x.say("frozen", "it is %s, and each live node that admits that is frozen", pinned(p.Pin))
		x.Needs = "a node that admits it must not be frozen"
		ex.addFilters(x)
	case p.Messages > 0:
		x.say("ready", "it has visible messages, is not locked, and a live node admits it: the next poll takes it")
		ex.addFilters(x)
	default:
		ex.explainOpen(x, id, &p, history)
	}
	if x.Unadmitted && !due {
		x.Text += fmt.Sprintf("; it is %s, and by now no live node admits that", pinned(p.Pin))
		ex.addFilters(x)
	}
	return x, nil
}

// firstMessage returns the message of an instance that becomes visible at the given time.
func (ex *explainer) firstMessage(id string, visibleMs int64) (first memprovider.RowState) {
	for _, r := range ex.store.PeekRows(id) {
		if r.Queue == observe.QueueOrchestrator && r.VisibleMs == visibleMs {
			return r
		}
	}
	return first
}

// explainOpen explains an instance for which no message is due.
func (ex *explainer) explainOpen(x *Explanation, id string, p *memprovider.InstanceState, history []engine.Event) {
	if p.Activities > 0 {
		ex.explainActivity(x, id, history)
	} else {
		ex.explainIdle(x, id, history)
	}
}

// explainActivity explains an instance by its activity that cannot go on or, failing that, by its first.
func (ex *explainer) explainActivity(x *Explanation, id string, history []engine.Event) {
	others := -1
	for _, r := range ex.store.PeekRows(id) {
		if r.Queue != observe.QueueWorker {
			continue
		}
		others++
		for _, ms := range []int64{r.LockedUntilMs, r.VisibleMs, r.SessionUntilMs} {
			if ms > ex.now && (x.untilMs == 0 || ms < x.untilMs) {
				x.untilMs = ms
			}
		}
		what, name := fmt.Sprintf("an activity (event %d)", r.Activity), ""
		if i := slices.IndexFunc(history, func(e engine.Event) bool { return e.EventID == r.Activity }); i >= 0 {
			if d, ok := history[i].Data.(eventdata.ActivityScheduled); ok {
				what, name = fmt.Sprintf("activity %s (event %d)", d.Name, r.Activity), d.Name
			}
		}
		if r.Session != "" {
			what += fmt.Sprintf(" of the session %q", r.Session)
		}
		lacks, needs := ex.unserved(r.Tag, name)
		if others > 0 && (needs == "" || x.Needs != "") {
			continue
		}
		x.say("activity", "it waits for %s%s", what, lacks)
		x.Needs = needs
		switch {
		case r.LockedUntilMs > ex.now:
			x.Text += fmt.Sprintf("; %s holds it until %s", ex.who(ex.network.workedBy(r.Number)), pretty.Duration(r.LockedUntilMs-ex.startMs()))
		case r.Count > 0:
			x.Text += cmp.Or(ex.gaveBack(ex.network.workedBy(r.Number)), "; who took it last has lost it")
			if r.VisibleMs > ex.now {
				x.Text += ", until " + pretty.Duration(r.VisibleMs-ex.startMs())
			}
		case r.SessionUntilMs > ex.now && needs == "":
			x.Text += fmt.Sprintf("; only the owner of the session, %s, may take it until %s", r.SessionOwner, pretty.Duration(r.SessionUntilMs-ex.startMs()))
		case needs == "":
			x.Text += ", which no node has taken yet"
		}
	}
	if others > 0 {
		x.Text += fmt.Sprintf("; %d more of its activities are queued or running", others)
	}
}

// unserved says what keeps the live nodes from running an activity, and what must be so that one runs it. It returns ""
// if a node runs it, as far as is known, or if no node is live.
func (ex *explainer) unserved(tag, name string) (lacks, needs string) {
	var live []*NodeInfo
	up := false
	for i := range ex.infos {
		if n := &ex.infos[i]; n.Up && !n.Draining && !n.Paused {
			up = true
			if n.Options.WorkerConcurrency > 0 {
				live = append(live, n)
			}
		}
	}
	if up && live == nil {
		return ", and no live node has a slot for activities", "a node must have such a slot (worker_concurrency)"
	}
	if lacks := Unserved(tag, live); lacks != "" {
		return lacks, "a worker must serve that tag"
	}
	var without []string
	for _, n := range live {
		if !n.Options.WorkerTagFilter.Matches(tag) {
			continue
		}
		if name == "" || n.HasActivity(name) {
			return "", ""
		}
		without = append(without, fmt.Sprintf("%s (%s)", n.Name, n.Build.Name()))
	}
	if without == nil {
		return "", ""
	}
	return ", which no live node has: without it are " + strings.Join(without, ", "), "a node that has that activity must be up"
}

// HasActivity reports whether the node runs that activity, as far as is known: a released runtime does not show what it
// has, and activities of the runtime itself need no handler.
func (n *NodeInfo) HasActivity(name string) bool {
	return n.Registry == nil || strings.HasPrefix(name, orchhost.SystemActivityPrefix) || slices.Contains(n.Registry.Activities(), name)
}

// Unserved says that none of these nodes, which are up and have workers, serves a tag. It returns "" if one does, or if
// there are none.
func Unserved(tag string, live []*NodeInfo) string {
	var serves []string
	for _, n := range live {
		if n.Options.WorkerTagFilter.Matches(tag) {
			return ""
		}
		filter, _ := n.Options.Get("worker_tag_filter")
		serves = append(serves, n.Name+" serves "+filter)
	}
	if serves == nil {
		return ""
	}
	return fmt.Sprintf(" with the tag %q, which no live node serves: %s", tag, strings.Join(serves, ", "))
}

// deleted reports whether an instance, or its start, has been deleted and not come again.
func (w *World) deleted(id string) bool {
	p, _ := w.store.Peek(id)
	return !p.Created && !p.Starts && w.network.heldBy(id).deleted
}

// heldBy returns who took an instance's lock last.
func (nw *network) heldBy(id string) (h holding) {
	if no, ok := nw.store.InstanceNumber(id); ok && int(no) < len(nw.holders) {
		h = nw.holders[no]
	}
	return h
}

// workedBy returns who took a queued activity last.
func (nw *network) workedBy(no observe.MessageNo) (h holding) {
	if i := slices.IndexFunc(nw.workers, func(h held) bool { return h.message == no }); i >= 0 {
		h = nw.workers[i].holding
	}
	return h
}

// who names a node, or whoever it is.
func (ex *explainer) who(h holding) string {
	if h.by.Node == 0 {
		return "somebody"
	}
	n := &ex.infos[h.by.Node-1]
	if !n.Up || h.by.Incarnation != n.Incarnation {
		return fmt.Sprintf("node %s (start %d, which is over)", n.Name, h.by.Incarnation)
	}
	if n.Paused {
		return "node " + n.Name + ", which is frozen,"
	}
	return "node " + n.Name
}

// gaveBack says why that node gave it back, or "" if it did not.
func (ex *explainer) gaveBack(h holding) string {
	if h.back == nil {
		return ""
	}
	text := fmt.Sprintf("; %s gave it back at %s", ex.who(h), pretty.Duration(h.back.atMs-ex.startMs()))
	if h.back.cause != "" {
		text += " (" + h.back.cause + ")"
	}
	return text
}

func (x *Explanation) say(rule, format string, args ...any) {
	x.Rule, x.Text = rule, fmt.Sprintf(format, args...)
	x.Cause = x.Text
}

// rowsShown is the maximum number of queue rows in an Explanation, and that of keys.
const rowsShown = 8

// addRows adds the instance's keys and queue rows.
func (ex *explainer) addRows(x *Explanation, id string) {
	keys := ex.store.PeekKeys(id)
	for i, k := range keys {
		if i == rowsShown {
			x.Details = append(x.Details, Detail{"more keys", fmt.Sprint(len(keys) - i)})
			break
		}
		x.Details = append(x.Details, Detail{"key " + k.Key, fmt.Sprintf("%.60q", k.Value)})
	}
	rows := ex.store.PeekRows(id)
	for i, r := range rows {
		if i == rowsShown {
			x.Details = append(x.Details, Detail{"more rows", fmt.Sprint(len(rows) - i)})
			return
		}
		text := string(r.Kind)
		if r.Queue == observe.QueueWorker {
			text += fmt.Sprintf(" #%d", r.Activity)
		}
		text += ", visible from " + pretty.Duration(max(r.VisibleMs-ex.startMs(), 0))
		if r.Session != "" {
			text += fmt.Sprintf(", session %q", r.Session)
		}
		if r.Tag != "" {
			text += fmt.Sprintf(", tag %q", r.Tag)
		}
		if r.Count > 0 {
			text += ", delivered " + pretty.Plural(uint64(r.Count), "time", "times")
		}
		if r.LockedUntilMs > ex.now {
			text += ", locked until " + pretty.Duration(r.LockedUntilMs-ex.startMs())
		}
		x.Details = append(x.Details, Detail{fmt.Sprintf("row %d", r.Number), text})
	}
}

func (ex *explainer) addFilters(x *Explanation) {
	for i := range ex.infos {
		x.Details = append(x.Details, Detail{"node " + ex.infos[i].Name, ex.NodeState(uint32(i + 1))})
	}
}

// NodeState describes whether a node is up, its build and what it replays.
func (w *World) NodeState(number uint32) string {
	n := w.Node(number)
	switch {
	case n.Up:
	case n.Refusal != "":
		return "down, since " + n.Refusal
	default:
		return "down"
	}
	text := n.Build.Name() + ", replays " + n.Filter.String()
	if n.Paused {
		text += ", frozen"
	}
	if n.Draining {
		text += ", stopping"
	}
	return text
}

// explainIdle explains an instance that has nothing queued: it is waiting for an event or a child. In recovery, clients
// send it nothing while a child has not told its end, whether it waits for that child or not.
func (ex *explainer) explainIdle(x *Explanation, id string, history []engine.Event) {
	var told, closed []uint64
	for _, e := range history {
		switch e.Data.(type) {
		case eventdata.SubOrchestrationCompleted, eventdata.SubOrchestrationFailed:
			told = append(told, e.SourceEventID)
		case eventdata.SubOrchestrationCancelRequested, eventdata.ActivityCompleted, eventdata.ActivityFailed,
			eventdata.ActivityCancelRequested, eventdata.TimerFired:
			closed = append(closed, e.SourceEventID)
		}
	}
	if open := ex.clients.openWaits(id); len(open) > 0 {
		child := ""
		for _, e := range history {
			if d, ok := e.Data.(eventdata.SubOrchestrationScheduled); ok && !slices.Contains(told, e.EventID) {
				child = fmt.Sprintf("; its child %s (%s, scheduled by event %d) has not told its end", d.Name, d.Child(id), e.EventID)
				break
			}
		}
		sent, later := ex.sent(id, &open[0], history)
		x.say("event", "it waits for the event %s%s%s", waitText(&open[0]), sent, child)
		if x.Needs = "a client must send that"; later {
			x.Needs = "the run must last until then"
		}
		return
	}
	closed = append(closed, told...)
	lost := ""
	for _, e := range history {
		if slices.Contains(closed, e.EventID) {
			continue
		}
		switch d := e.Data.(type) {
		case eventdata.SubOrchestrationScheduled:
			x.say("child", "it waits for its child %s (%s, scheduled by event %d)", d.Name, d.Child(id), e.EventID)
			x.Cause = "it waits for a child"
			return
		case eventdata.ActivityScheduled:
			lost = fmt.Sprintf("activity %s (event %d)", d.Name, e.EventID)
		case eventdata.TimerCreated:
			lost = fmt.Sprintf("a timer (event %d)", e.EventID)
		}
	}
	if lost != "" {
		x.say("nothing", "nothing is queued for it, and it waits for %s", lost)
		x.Needs = "what ends that wait must not be lost"
		return
	}
	if len(history) == 0 {
		x.say("nothing", "nothing is queued for it, and no build of the plan reads its history: what it gets next makes it poison")
		return
	}
	x.say("nothing", "nothing is queued for it, and its history shows nothing that it waits for")
}

// sent says what clients have sent an instance under the name of an open wait, and what became of it. later means that
// they have sent nothing yet.
func (ex *explainer) sent(id string, wait *engine.Event, history []engine.Event) (text string, later bool) {
	next := ""
	name, verb := eventName(wait.Data), plan.ActionRaise
	second, _ := wait.Data.(eventdata.ExternalSubscribed2)
	if _, queue := wait.Data.(eventdata.QueueSubscribed); queue {
		verb = plan.ActionEnqueue
	}
	if i, planned := ex.clients.planned[id]; planned {
		for _, a := range ex.plan.Instances[i].Actions {
			sent := ex.startMs()+a.At.Milliseconds() <= ex.now
			switch at := pretty.Duration(a.At.Milliseconds()); {
			case a.Verb != verb || a.Name != name:
			case a.Topic != "" && a.Topic != second.Topic: // no such event ends the wait
				if sent && text == "" {
					text = fmt.Sprintf("; a client sent it on %q at %s", a.Topic, at)
				}
			case sent:
				text = "; a client sent that at " + at
			case next == "":
				next = ", which a client sends at " + at
			}
		}
	}
	var came *engine.Event
	for i := range history {
		switch history[i].Data.(type) {
		case eventdata.ExternalEvent, eventdata.ExternalEvent2, eventdata.QueueEventDelivered:
			if eventName(history[i].Data) == name {
				came = &history[i]
			}
		}
	}
	switch {
	case came == nil && text == "" && next != "":
		return next, true
	case came == nil && text == "":
		return ", which no client has sent", false
	case came == nil:
		return text + ", and this execution has not got it", false
	}
	text += fmt.Sprintf("; what came at %s (event %d) ", pretty.Duration(int64(came.TimestampMs)-ex.startMs()), came.EventID)
	switch {
	case waitText(came) != waitText(wait):
		if text += "is " + waitText(came) + ", which this wait does not take"; !ex.clients.knows.Has(wait.Kind()) {
			text += ", and clients of " + ex.plan.Clients + " know no other (clients run)"
		}
		return text, false
	case came.EventID < wait.EventID && verb == plan.ActionRaise: // a queue keeps what came before
		return text + "was before this wait, which began at " + pretty.Duration(int64(wait.TimestampMs)-ex.startMs()), false
	}
	return text + "went to an earlier wait", false
}

// eventName returns the name of the event or of the queue that a wait or an arrival is about.
func eventName(d engine.EventData) string {
	switch d := d.(type) {
	case eventdata.ExternalSubscribed:
		return d.Name
	case eventdata.ExternalEvent:
		return d.Name
	case eventdata.ExternalSubscribed2:
		return d.Name
	case eventdata.ExternalEvent2:
		return d.Name
	case eventdata.QueueSubscribed:
		return d.Name
	case eventdata.QueueEventDelivered:
		return d.Name
	}
	return ""
}

// waitText describes the event that an open wait is waiting for, or an arrival.
func waitText(e *engine.Event) string {
	switch d := e.Data.(type) {
	case eventdata.ExternalSubscribed, eventdata.ExternalEvent:
		return strconv.Quote(eventName(d))
	case eventdata.ExternalSubscribed2:
		return fmt.Sprintf("%q on %q", d.Name, d.Topic)
	case eventdata.ExternalEvent2:
		return fmt.Sprintf("%q on %q", d.Name, d.Topic)
	case eventdata.QueueSubscribed, eventdata.QueueEventDelivered:
		return strconv.Quote(eventName(d)) + " of a queue"
	}
	return string(e.Kind())
}
