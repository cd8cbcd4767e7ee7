package outcome

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// fate says how an instance ended, and what would have to differ, not whether the plan expects that.
func (c *Checker) fate(p *plan.Instance) (f cluster.Fate, w *work, differ string) {
	no := c.Run.Model.Number(p.ID)
	w = c.of(no)
	f = cluster.Fate{Instance: p.ID, Expect: p.Expect, End: cluster.NeverBegun, Cause: "no node took it"}
	if no != 0 {
		f.End, f.Cause = c.ending(c.Run.Model.Instance(no), w)
	}
	if f.End == cluster.NeverBegun && slices.ContainsFunc(p.Actions, func(a plan.Action) bool { return a.Verb == plan.ActionDelete }) {
		f.End, f.Cause = cluster.EndedDeleted, "" // its start message was deleted
	}
	if w.end.atMs != 0 && f.End != cluster.StillRunning {
		f.EndedMs = w.end.atMs - c.Run.World.StartMs()
		f.Node, f.Build, f.Step = c.Run.NodeName(w.end.node), w.end.build, w.end.after.text
	}
	switch {
	case f.End == cluster.NeverBegun, f.End == cluster.StillRunning:
		f.Cause, differ = c.waitsFor(p, no)
	case f.End != cluster.EndedCompleted:
		differ = c.different(w, &f)
	}
	f.Rescued = c.owes(&f, w)
	f.Unread = f.End == cluster.EndedPoisoned && slices.ContainsFunc(w.refusals, func(r refusal) bool { return r.decision == machine.DecideHistoryError && r.build == f.Build })
	if f.End == cluster.EndedDeleted && slices.ContainsFunc(c.Run.World.Help(), func(h cluster.Help) bool { return h.Kind == cluster.HelpDelete && h.Name == p.ID }) {
		f.Rescued, f.Cause = true, "rescue deleted it, since no build of the plan takes it to its end"
	}
	if f.End == cluster.EndedCancelled && w.stuck != "" {
		f.Cause, differ = "it waited for "+w.stuck+", when recovery cancelled it", "a node must be able to run that"
	}
	return f, w, differ
}

// stored says how a stored history ended. The plan expects no end of it, but it should not be poisoned, nor wait for ever.
func (c *Checker) stored(h *plan.History) {
	f, w, _ := c.fate(&plan.Instance{ID: h.Instance})
	waits := w.waits != 0 && c.told.Waits[w.waits-1].Open
	f.AsExpected = w.excuses(f.End) || f.End != cluster.EndedPoisoned && !f.Rescued && !waits
	c.told.Stored = append(c.told.Stored, f)
}

func (c *Checker) judge(p *plan.Instance) {
	no := c.Run.Model.Number(p.ID)
	f, w, differ := c.fate(p)
	f.AsExpected = expected(p, &f, w) && (!f.Rescued || p.Expect == plan.EndAny)
	missed, of, hint := "", cluster.Unawaited, `. Either the name is misspelt, or "unawaited" after that line says that this is meant`
	untaken := c.untaken(p, !f.AsExpected && f.End != cluster.EndedCompleted)
	c.told.Remarks = append(c.told.Remarks, untaken...)
	if f.AsExpected {
		missed = c.unawaited(p, &f)
		says, at := "expect taken", -1
		switch whole := c.Run.World.Plan(); {
		case whole.TakenOrLate:
			says, at = "expect taken or late", slices.IndexFunc(untaken, func(r cluster.Remark) bool { return strings.HasSuffix(r.About, early) })
		case whole.Taken && len(untaken) > 0:
			at = 0
		}
		if missed == "" && at >= 0 {
			missed, of, hint = "nobody took "+untaken[at].About, cluster.Untaken, fmt.Sprintf(`%s. The plan says %q; "unawaited" after that line says that this is meant`, untaken[at].Detail, says)
		}
		if missed != "" {
			f.AsExpected, f.Cause = false, missed
		}
	}
	c.told.Fates = append(c.told.Fates, f)
	if missed != "" {
		c.breaches = append(c.breaches, check.Breach{Property: ID, Class: cluster.ClassPlan, Instance: no, Name: p.ID, End: of, Message: p.ID + ": " + missed + hint, Cause: f.Alike()})
	} else if !f.AsExpected {
		c.report(p, no, w, &f, differ, untaken)
	}
}

// detached judges the independent instances that code has started. The plan does not name them: they may fail by their code,
// and be poisoned if that is expected of who has started them, or be anything if that may end in any way.
func (c *Checker) detached(p *plan.Plan) {
	if !slices.ContainsFunc(c.work, func(w work) bool { return w.starter != 0 }) {
		return
	}
	planned := map[string]plan.End{}
	for i := range p.Instances {
		planned[p.Instances[i].ID] = cmp.Or(p.Instances[i].Expect, plan.EndCompleted)
	}
	for no := range c.work {
		name := c.Run.Model.Name(observe.InstanceNo(no))
		if c.work[no].starter == 0 {
			continue
		}
		if planned[name] != "" {
			c.told.Remarks = append(c.told.Remarks, cluster.Remark{
				Kind: cluster.RemarkStart, About: "what the plan starts, after " + c.handler(c.Run.Model.Instance(c.work[no].starter).Latest()), Instance: name,
			})
			continue
		}
		expect, by := plan.End(""), observe.InstanceNo(no)
		for range len(c.work) { // a store may have parents in a circle
			if expect = planned[c.Run.Model.Name(by)]; by == 0 || expect != "" {
				break
			}
			by = cmp.Or(c.of(by).starter, c.state.Instance(by).Parent)
		}
		switch {
		case expect == "", expect == plan.EndAny: // a stored history has started it, of which the plan expects no end
			expect = plan.EndAny
		case expect.Allows(plan.EndPoison):
			expect = plan.EndCompleted + "|" + plan.EndFailed + "|" + plan.EndPoison
		default:
			expect = plan.EndCompleted + "|" + plan.EndFailed
		}
		c.judge(&plan.Instance{ID: name, Expect: expect})
	}
}

// ending returns how an instance ended, with a short description of the cause.
func (c *Checker) ending(in *model.Instance, w *work) (cluster.Ending, string) {
	ex := in.Latest()
	switch {
	case w.deleted && !in.Created:
		return cluster.EndedDeleted, ""
	case !in.Created && (ex == nil || !ex.Created):
		return cluster.NeverBegun, ""
	case ex == nil:
		return cluster.StillRunning, ""
	}
	switch ex.Status {
	case engine.StatusCompleted:
		return cluster.EndedCompleted, ""
	case engine.StatusFailed:
		return c.failure(ex, w)
	}
	return cluster.StillRunning, ""
}

// failure returns the ending that a failed execution's history records.
func (c *Checker) failure(ex *model.Execution, w *work) (cluster.Ending, string) {
	details, ok := c.Run.Model.Failure(ex)
	switch {
	case !ok && w.end.poison, ok && details.Poison != nil:
		return cluster.EndedPoisoned, c.poison(ex.Instance, &details, w)
	case !ok:
		return cluster.EndedFailed, "no build can read the event that ended it"
	case details.Application != nil && details.Application.Kind == eventdata.AppCancelled:
		return cluster.EndedCancelled, "a cancel request"
	case details.Application != nil && details.Application.Kind == eventdata.AppPanicked:
		cause := strings.TrimSpace("its code panicked: " + details.Application.Message)
		if w.panicked != "" {
			cause += ", at " + w.panicked
		}
		return cluster.EndedFailed, cause
	}
	return cluster.EndedFailed, details.Display()
}

// children tells of each child that ended otherwise than its code said, which a parent may hide.
func (c *Checker) children() {
	for _, in := range c.Run.Model.Instances[1:] {
		ex := in.Latest()
		if c.state.Instance(in.No).Parent == 0 || ex == nil || ex.Status != engine.StatusFailed || c.of(in.No).excuses(cluster.EndedFailed) {
			continue
		}
		details, _ := c.Run.Model.Failure(ex)
		if a := details.Application; a != nil && a.Kind != eventdata.AppPanicked {
			continue
		}
		end, cause := c.failure(ex, c.of(in.No))
		c.told.Remarks = append(c.told.Remarks, cluster.Remark{
			Kind: cluster.RemarkChild, About: fmt.Sprintf("%s %s, %s", c.handler(ex), end, cause), Instance: in.Name,
		})
	}
}

// handler returns the handler that an execution began with, or that it is unknown.
func (c *Checker) handler(ex *model.Execution) string {
	if e := ex.Event(1); e != nil {
		if d, ok := c.Run.Model.Data(e).(eventdata.OrchestrationStarted); ok {
			return d.Name + "@" + d.Version
		}
	}
	return "an unknown handler"
}

// poison explains why deliveries did not complete. It uses the nodes' refusals or, if there are none, the details of
// the poison.
func (c *Checker) poison(in *model.Instance, d *engine.ErrorDetails, w *work) string {
	what := ""
	if d.Poison != nil {
		if no := c.Run.Model.Number(d.Poison.MessageType.Instance); no != 0 && no != in.No { // a child's poison, which the child reported to this instance
			what = "child " + c.Run.Model.Name(no) + ": "
			w.refusals = append(w.refusals, c.of(no).refusals...)
			if text := c.upThen[no]; text != "" {
				c.upThen[in.No] = text
			}
		}
	}
	if d.Poison != nil && d.Poison.MessageType.Kind == eventdata.PoisonActivity {
		what += "activity " + d.Poison.MessageType.ActivityName + ": "
	}
	var said []string
	for i := range w.refusals {
		if text := w.refusals[i].why(); !slices.Contains(said, text) {
			said = append(said, text)
		}
	}
	slices.Sort(said) // which node came first is chance
	if len(said) > 0 {
		return what + strings.Join(said, "; ")
	}
	cause := w.end.cause
	if d.Poison != nil {
		cause = cmp.Or(d.Poison.MessageType.Cause, d.Poison.MessageType.Error, cause)
	}
	if cause == "" || cause == "crashes" { // which is what a node says of all that it cannot know
		cause = "no delivery was acknowledged (crashes, expired locks, lost or refused acks)"
	}
	return what + cause
}

// unknownKind matches what a codec says of a kind that its build does not know.
var unknownKind = regexp.MustCompile(`unknown kind "\w+"`)

func (r *refusal) why() string {
	switch r.decision {
	case machine.DecideHistoryError:
		text := "build " + r.build + " cannot read its history or a message"
		if kind := unknownKind.FindString(r.cause); kind != "" {
			text += " (" + kind + ")"
		}
		return text
	case machine.DecideIncompatible:
		if r.unpinned {
			return "it has no pin, and the version in its history is outside the range of build " + r.build
		}
		text := "its pin is outside the range of build " + r.build
		if r.lost() > 0 {
			text += fmt.Sprintf(", which counts only if the call that gives it back is lost, as %d of %d were", r.lost(), r.times)
		}
		return text
	}
	text := "build " + r.build + " has no handler for it (" + cmp.Or(r.cause, "handler missing")
	if r.policy != "" {
		text += ", which by its policy is " + r.policy
	}
	return text + ")"
}

// lacks reports whether the node gave the work back since it has no handler for it.
func (r *refusal) lacks() bool {
	return r.decision == machine.DecideNoHandler || r.decision == machine.DecideWorkNoHandler
}

// never reports whether the node lacks a handler that none of its builds had while the work was there.
func (r *refusal) never() bool {
	return r.lacks() && r.policy == "" && !r.had && r.undone.text == ""
}

// lost is how many deliveries count only since the call that gave them back was lost.
func (r *refusal) lost() int {
	if r.spared == 0 {
		return 0
	}
	return r.times - r.spared
}

// owes fills in what recovery and rescue did for an instance, and reports whether the instance would have ended
// differently without rescue. If recovery started a node, this counts for the instances that the node ended.
func (c *Checker) owes(f *cluster.Fate, w *work) (rescued bool) {
	var parts []string
	if len(w.recovery) > 0 && f.End != cluster.NeverBegun {
		parts = append(parts, "recovery "+strings.Join(w.recovery, " and "))
	}
	helped := w.end.phase != cluster.PhaseFaults
	var rescue []string
	for _, h := range c.Run.World.Help() {
		switch {
		case !helped:
		case h.Kind == cluster.HelpStart && h.Name == c.Run.NodeName(w.end.node):
			parts = append(parts, "recovery started "+h.Name+", which the plan leaves down")
		case h.Kind == cluster.HelpDelete: // an instance that has ended was not deleted by rescue
		case h.Phase == cluster.PhaseRescue && h.VirtualMs+c.Run.World.StartMs() <= w.end.atMs:
			if text := strings.TrimPrefix(h.String(), "rescue "); !slices.Contains(rescue, text) {
				rescue = append(rescue, text)
			}
		}
	}
	rescued = helped && w.end.phase == cluster.PhaseRescue
	if rescued {
		parts = append(parts, "rescue "+cmp.Or(strings.Join(rescue, ", "), "helped")+", since no live node took it")
	}
	f.Owes = strings.Join(parts, "; ")
	return rescued
}

// excuses reports whether an injected fault can have decided that the instance ended in that way. A panic of an activity
// fails the code that does not handle it, and does nothing else.
func (w *work) excuses(end cluster.Ending) bool {
	return w.hit && end == cluster.EndedFailed || w.damaged && end != cluster.EndedCompleted && end != cluster.EndedCancelled
}

// expected reports whether the plan expects an end. A failure is also accepted if a fault that decides how work ends
// caused it.
func expected(p *plan.Instance, f *cluster.Fate, w *work) bool {
	if f.End == cluster.EndedDeleted && !f.Rescued || w.excuses(f.End) {
		return true
	}
	cancelled := slices.ContainsFunc(p.Actions, func(a plan.Action) bool { return a.Verb == plan.ActionCancel })
	switch f.End {
	case cluster.EndedCompleted:
		return p.Expect == "" || p.Expect.Allows(plan.EndCompleted)
	case cluster.EndedFailed:
		return p.Expect.Allows(plan.EndFailed)
	case cluster.EndedPoisoned:
		return p.Expect.Allows(plan.EndPoison)
	case cluster.EndedCancelled:
		return w.withParent || p.Expect == "" && cancelled || p.Expect.Allows(plan.EndFailed) || p.Expect.Allows(plan.EndEternal) && w.stuck == ""
	case cluster.StillRunning:
		return p.Expect == plan.EndAny || p.Expect == plan.EndEternal && f.Cause == ""
	}
	return p.Expect == plan.EndAny
}

// report reports a violation for an unexpected end.
func (c *Checker) report(p *plan.Instance, no observe.InstanceNo, w *work, f *cluster.Fate, differ string, untaken []cluster.Remark) {
	var b strings.Builder
	how := string(f.End)
	if w.end.phase == cluster.PhaseRescue {
		how += " only by rescue, which is beyond the plan"
	}
	how += ", but the plan expects " + cmp.Or(p.Expect, plan.EndCompleted).Text()
	b.WriteString(p.ID + " is " + how)
	if f.EndedMs != 0 {
		fmt.Fprintf(&b, ". It ended at %s, step %s", pretty.Duration(f.EndedMs), pretty.Count(w.end.step))
		if f.End == cluster.EndedFailed { // a node also runs handlers that are older than its build
			ex := c.Run.Model.Instance(no).Latest()
			fmt.Fprintf(&b, ", in execution %d, which runs %s", ex.ID, c.handler(ex))
		}
	}
	if f.Node != "" {
		fmt.Fprintf(&b, ", by an ack of %s", c.nodeText(w.end.node, w.end.build, w.end.after))
	}
	if f.Cause != "" {
		fmt.Fprintf(&b, ". Cause: %s", f.Cause)
	}
	if len(untaken) > 0 {
		fmt.Fprintf(&b, ". Nobody took %s%s", untaken[0].About, untaken[0].Detail)
	}
	var by []string
	times := map[string]int{} // never iterated over
	for i := range w.refusals {
		r := &w.refusals[i]
		text := c.nodeText(r.node, r.build, r.after)
		if times[text] == 0 {
			by = append(by, text)
		}
		times[text] += r.times
	}
	for _, text := range by {
		fmt.Fprintf(&b, ". %s gave it back %s", text, pretty.Times(times[text]))
	}
	if f.Owes != "" {
		fmt.Fprintf(&b, ". Beyond the plan: %s", f.Owes)
	}
	if w.end.phase == cluster.PhaseRescue {
		differ = "a node whose range holds its pin must be up until it has ended; " + c.upThen[no]
	}
	if differ != "" {
		fmt.Fprintf(&b, ". To end as %s: %s", cmp.Or(p.Expect, plan.EndCompleted).Text(), differ)
	}
	alike := f.Alike()
	if f.End == cluster.EndedPoisoned && len(w.refusals) > 0 && w.refusals[0].never() {
		alike += ", which it never had" // another mistake than to drop it
	}
	c.breaches = append(c.breaches, check.Breach{
		Property: ID, Class: cluster.ClassPlan, Node: w.end.node, Instance: no, Name: p.ID, End: f.End, Step: w.end.step, AtMs: w.end.atMs, Message: b.String(),
		Cause: strings.TrimSuffix(how+": "+alike, ": "),
	})
}

// nodeText describes a node with its build and the step that gave it that build.
func (c *Checker) nodeText(number uint32, build string, after step) string {
	text := c.Run.NodeName(number)
	if build != "" {
		text += " (" + build
		if after.text != "" {
			word := "since"
			if after.verb == plan.VerbDeregister { // perhaps another step has changed the build since then
				word = "after"
			}
			text += fmt.Sprintf(", %s %q at %s", word, after.text, pretty.Duration(after.atMs-c.Run.World.StartMs()))
		}
		text += ")"
	}
	return text
}

// waitsFor describes what an instance is waiting for at the end of a run, and what would have to differ for the wait to
// end.
func (c *Checker) waitsFor(p *plan.Instance, no observe.InstanceNo) (cause, differ string) {
	why := c.Run.World.Why(p.ID)
	if why != nil && why.Rule == "not-started" {
		return why.Cause, why.Needs
	}
	live, frozen := false, ""
	for i := range c.state.Nodes {
		live = live || c.state.Nodes[i].Live()
		if c.Run.World.Node(uint32(i + 1)).Paused {
			frozen += "; " + c.down(i)
		}
	}
	switch {
	case !live && frozen != "":
		return "each node is down or frozen", "a node must be up, and not frozen, until it has ended; " + c.downText()
	case !live:
		return "no node is up", "a node must be up until it has ended; " + c.downText()
	}
	if why == nil || no == 0 {
		return "no node took it", "a live node must admit it"
	}
	switch {
	case why.Unadmitted:
		pin := model.PinText(c.Run.Model.Instance(no).Pin())
		return "no live node admits its pin " + pin, fmt.Sprintf("a node whose range holds %s must be up until it has ended; live nodes: %s", pin, c.state.WhyNot(c.Run.Model.Instance(no)))
	case why.Rule == "activity", why.Rule == "no-slot":
		if why.Needs != "" {
			return why.Cause, why.Needs
		}
	case why.Rule == "ended":
		return "", ""
	}
	if p.Expect == plan.EndEternal && c.Run.World.Plan().Until > 0 && why.Rule != "undecodable" && why.Rule != "nothing" {
		return "", "" // it goes on, and no recovery has cancelled it
	}
	if p.Expect == plan.EndEternal && c.Run.World.TooLong() {
		return "the run was ended before that could be judged (run-ends)", "the run must reach its end"
	}
	cause, differ = why.Cause, "it needs more time, or the instance that it waits for must end"
	if why.Needs != "" {
		return cause, why.Needs
	}
	if cause != why.Text {
		differ += " (" + why.Text + ")"
	}
	nodes := c.state.WhyNot(c.Run.Model.Instance(no))
	if why.Rule == "delayed" && !strings.Contains(nodes, ") runs it") {
		differ = "a live node must be able to run it"
	}
	differ += "; live nodes: " + nodes + frozen
	if c.Run.Model.Instance(no).CurrentID > engine.InitialExecutionID && !c.Run.Broken() && !c.Run.Planted() {
		differ += `. It continues as new: if it should run until it is cancelled, write "expect eternal" after it`
	}
	return cause, differ
}

// upText describes the nodes that have been up so far, and the steps that gave them their builds or stopped them.
func (c *Checker) upText() string {
	var parts []string
	for i, s := range c.nodes {
		if n := c.state.Node(uint32(i + 1)); n.Build != nil {
			text := c.nodeText(n.Number, n.Build.Name(), s.step)
			if r := n.Options.SupportedReplayVersions; r != nil {
				text += " with the range " + r.String()
			}
			if info := c.Run.World.Node(n.Number); !info.Up || info.Paused {
				text = c.down(i)
			}
			parts = append(parts, text)
		}
	}
	return "nodes: " + strings.Join(parts, ", ")
}

// downText lists the nodes that are down or frozen, with the step that stopped each of them and when.
func (c *Checker) downText() string {
	var parts []string
	for i := range c.nodes {
		parts = append(parts, c.down(i))
	}
	return strings.Join(parts, ", ")
}

// down says of a node that it is down, or frozen, and why.
func (c *Checker) down(i int) string {
	text, s := c.Run.NodeName(uint32(i+1))+" is down", c.nodes[i].fell
	if c.Run.World.Node(uint32(i + 1)).Paused {
		text, s = c.Run.NodeName(uint32(i+1))+" is frozen", c.nodes[i].frozen
	}
	if s.text != "" {
		text += fmt.Sprintf(" since %q at %s", s.text, pretty.Duration(s.atMs-c.Run.World.StartMs()))
	}
	if why := c.Run.World.Node(uint32(i + 1)).Refusal; why != "" {
		text += " and does not start: " + why
	}
	return text
}

// different describes what would have to change for the work to end as expected.
func (c *Checker) different(w *work, f *cluster.Fate) string {
	switch {
	case f.End == cluster.EndedDeleted:
		return "a build of the plan must admit its pin, and a node of that build must be up until it has ended"
	case f.End == cluster.EndedPoisoned && (strings.Contains(f.Cause, eventdata.Swept) || strings.Contains(f.Cause, eventdata.DeadLetter)):
		return fmt.Sprintf("a node that admits its pin must take it within the patience of %s; %s", pretty.Duration(c.Run.World.Plan().Patience.Or().After.Milliseconds()), cmp.Or(c.upThen[c.Run.Model.Number(f.Instance)], c.upText()))
	case f.End == cluster.EndedPoisoned && len(w.refusals) > 0:
		if ex := c.Run.Model.Instance(c.Run.Model.Number(f.Instance)).Latest(); ex != nil && ex.Kinds.Has(model.KindDamaged) && !w.refusals[0].lacks() {
			return "its history must be repaired, which no build reads"
		}
		return c.onRefusals(w.refusals)
	case f.End == cluster.EndedPoisoned:
		return "a delivery must be acknowledged before max_attempts is reached"
	case f.End == cluster.EndedCancelled:
		return "no client may cancel it, or the plan must say that it is cancelled"
	}
	in := c.Run.Model.Instance(c.Run.Model.Number(f.Instance))
	switch details, ok := c.Run.Model.Failure(in.Latest()); {
	case !ok:
		return "a build must read the event that ended it"
	case details.Infrastructure != nil:
		return "no error of the store may end it"
	case details.Configuration != nil:
		return "every build that runs it must take the actions that its history records, and changed code needs a version of its own"
	}
	if child := c.failedChild(in); child != "" {
		return fmt.Sprintf("its child %s must not fail this way, or its code must handle that", child)
	}
	return "its code must not fail this way"
}

// advice is what would have to change so that nodes do not give work back. The same advice may be about several things.
type advice struct {
	before string
	about  []string
	after  string
}

// onRefusals says of each node that gave work back what would have to change.
func (c *Checker) onRefusals(refusals []refusal) string {
	var all []advice
	for i := range refusals {
		a := c.onRefusal(&refusals[i])
		at := slices.IndexFunc(all, func(b advice) bool { return b.before == a.before && b.after == a.after })
		if at < 0 {
			all = append(all, a)
		} else if !slices.Contains(all[at].about, a.about[0]) {
			all[at].about = append(all[at].about, a.about[0])
		}
	}
	var texts []string
	for _, a := range all {
		texts = append(texts, a.before+strings.Join(a.about, " and ")+a.after)
	}
	return strings.Join(texts, "; ")
}

func (c *Checker) onRefusal(r *refusal) advice {
	name := c.Run.NodeName(r.node)
	at := func(s step) []string {
		return []string{fmt.Sprintf("%q at %s", s.text, pretty.Duration(s.atMs-c.Run.World.StartMs()))}
	}
	build := "build " + r.build + " of "
	switch {
	case !r.lacks():
		a := advice{"a node that admits and reads it must be up until it has ended, in place of ", []string{fmt.Sprintf("%s (%s)", name, r.build)}, ""}
		if r.lost() > 0 {
			a.after += ", or the calls by which that gives it back must not be lost"
		}
		if strings.Contains(r.cause, string(engine.ItemExternalRaised2)) {
			a.after += ", or no client may send it an event with a topic blindly"
		}
		return a
	case r.policy != "":
		return advice{build, []string{name}, fmt.Sprintf(" must register version %s, or its policy must name one that it registers", r.policy)}
	case !r.had && r.undone.text != "":
		return advice{"", at(r.undone), " must go to a build that has that handler, or the work must end before"}
	case r.never() && !slices.ContainsFunc(c.nodes, func(n nodeStep) bool { return among(n.had, r.cause) }):
		return advice{"a node must have that handler, and no node of the run ever had it: its name may be misspelt", []string{""}, ""}
	case r.never():
		return advice{"every node must have that handler before a client or a node starts it; ", []string{fmt.Sprintf("%s (%s)", name, r.build)}, " did not have it"}
	case r.after.verb == plan.VerbDeregister:
		return advice{"", at(r.after), " must wait until nothing needs that handler"}
	}
	return advice{build, []string{name}, " must keep that handler until nothing needs it, or the work must end before"}
}

// failedChild returns the child whose failure an instance passed on as its own, or "" if there is none.
func (c *Checker) failedChild(parent *model.Instance) string {
	own, _ := c.Run.Model.Failure(parent.Latest())
	for _, in := range c.Run.Model.Instances[1:] {
		ex := in.Latest()
		if c.state.Instance(in.No).Parent != parent.No || ex == nil || ex.Status != engine.StatusFailed {
			continue
		}
		if details, ok := c.Run.Model.Failure(ex); ok && details.Display() == own.Display() {
			return in.Name
		}
	}
	return ""
}
