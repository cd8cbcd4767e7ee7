package expect

import (
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/plan"
)

// event is the dense number for an event (sim/plan).
type event uint8

const (
	eventTurn event = iota
	eventFetch
	eventSkip
	eventPoison
	eventAbandon
	eventWait
	eventEvent
	eventEnd
	eventUp
	eventNode
	eventLock
	eventDecode
	events
)

var eventNames = [events]string{
	plan.FactTurn, plan.FactFetch, plan.FactSkip, plan.FactPoison, plan.FactAbandon, plan.FactWait, plan.FactEvent, plan.FactEnd, plan.FactUp, plan.FactNode,
	plan.FactLock, plan.FactDecode,
}

// attr is the dense number for an attribute. The builds in "up" and the handlers in "node" have no numbers.
type attr uint8

const (
	attrNamed attr = iota
	attrKind
	attrStatus
	attrNode
	attrBuild
	attrFilter
	attrPin
	attrInstance
	attrPhase
	attrQueue
	attrReason
	attrCause
	attrAttempt
	attrReadable
	attrDelay
	attrFirst
	attrResumed
	attrStart
	attrHandler
	attrResult
	attrOutput
	attrExecution
	attrs
)

var attrNames = [attrs]string{
	"", "kind", "status", "node", "build", "filter", "pin", "instance", "phase", "queue", "reason", "cause", "attempt", "readable",
	"delay", "first", "resumed", "start", "handler", "result", "output", "execution",
}

// attrSet is a set of attributes.
type attrSet uint32

// attrsOfPlace are the attributes that say which node and instance a fact is about.
const attrsOfPlace attrSet = 1<<attrNode | 1<<attrBuild | 1<<attrPin | 1<<attrInstance | 1<<attrPhase

// fact is something that happened. node is the number of the node concerned, or 0, and build its build, if known. in is
// the instance concerned, or nil.
//
// An attribute is set at once, or it is open: Checker.derive sets it if a condition of the current part or a report asks
// for it. Most values are never asked for.
type fact struct {
	event     event
	node      uint32
	build     *engine.Build
	no        observe.InstanceNo
	in        *model.Instance
	attempt   uint32
	execution uint64
	atMs      int64 // when it happened, if that was before now; otherwise 0
	values    [attrs]value
	has, open attrSet      // which attributes are set, and which are open; the others do not apply
	named     []namedValue // attributes that have no number
	detail    string       // what else its text says
}

type namedValue struct {
	name  string
	value value
}

// value is the value of an attribute. If the attribute has few values, no is this value's number, counting from 1.
type value struct {
	text string
	no   uint8
}

func textValue(text string) value { return value{text: text} }

// numberedValue returns a value that follows the given number of other values of its attribute. If that number is too
// large, the value gets no number.
func numberedValue(text string, before int) value {
	v := textValue(text)
	if before < 255 {
		v.no = uint8(before + 1)
	}
	return v
}

func (f *fact) set(a attr, v value) {
	f.values[a] = v
	f.has |= 1 << a
}

func (f *fact) addNamed(name string, v value) { f.named = append(f.named, namedValue{name, v}) }

// get returns the value of an attribute that has no number.
func (f *fact) get(name string) value {
	for i := range f.named {
		if f.named[i].name == name {
			return f.named[i].value
		}
	}
	if f.event == eventUp {
		return textValue("0")
	}
	return yesNo(false)
}

func (c *Checker) text(f *fact) string {
	var b strings.Builder
	b.WriteString(eventNames[f.event])
	c.derive(f, f.open)
	for a := attrNamed + 1; a < attrs; a++ {
		if f.has&(1<<a) != 0 && (a != attrResumed || f.values[a] == yesNo(true)) { // most nodes keep no execution
			b.WriteString(" " + attrNames[a] + "=" + f.values[a].text)
		}
	}
	if f.event == eventNode {
		return b.String() // without the handlers: there are too many, and the message has the one that matters
	}
	for _, n := range f.named {
		b.WriteString(" " + n.name + "=" + n.value.text)
	}
	if f.detail != "" {
		b.WriteString(", " + f.detail)
	}
	return b.String()
}

// condition is an attribute that selects facts. If exact is set, it matches only its own text. known and allowed cache
// which values it matches, with one bit per value number.
type condition struct {
	plan.Attr
	attr           attr
	exact          bool
	known, allowed uint64
}

func newCondition(a plan.Attr) condition {
	return condition{
		Attr: a, attr: attr(max(slices.Index(attrNames[:], a.Name), 0)),
		exact: !strings.Contains(a.Value, "|") && !strings.HasSuffix(a.Value, ".x"),
	}
}

func (c *condition) allows(v value) bool {
	if v.no == 0 || v.no >= 64 {
		return v.text == c.Value || !c.exact && c.Match(v.text)
	}
	bit := uint64(1) << v.no
	if c.known&bit == 0 {
		c.known |= bit
		if c.Match(v.text) {
			c.allowed |= bit
		}
	}
	return c.allowed&bit != 0
}

// holds reports whether a fact fulfils the condition. Nearly always, the number of the value is known to the condition.
func (c *condition) holds(f *fact) bool {
	if no := f.values[c.attr].no; c.known>>no&1 != 0 {
		return c.allowed>>no&1 != 0
	}
	return c.allows(c.of(f))
}

func (c *condition) of(f *fact) value {
	if c.attr != attrNamed {
		return f.values[c.attr]
	}
	return f.get(c.Name)
}

// known is a build or a pin that has occurred in facts.
type known[T any] struct {
	is    *T
	value value
}
