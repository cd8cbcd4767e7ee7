package oracle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
)

// Options describes what a provider promises beyond the contract and under which conditions it is watched.
type Options struct {
	// Deny lists freedoms that the provider does not use. It uses the ids that Freedoms lists, such as "F9", apart
	// from those that are always granted.
	Deny []Freedom
	// StorageErrors permits any call to return a retryable error without effect.
	StorageErrors bool
	// CallersClocks permits time to go back from call to call, because the store's time is that of the caller.
	CallersClocks bool
	// Codecs lists the codecs of the builds that Exchange.Build may name; nil means the shipped builds' codecs.
	Codecs []engine.Codec

	denied freedoms
	// slow leaves out the confirmations.
	slow bool
}

// Check returns an error if Deny contains an id that Freedoms does not list, or one that cannot be denied.
func (o Options) Check() error {
	for _, id := range o.Deny {
		all := Freedoms()
		switch i := slices.IndexFunc(all, func(f FreedomInfo) bool { return f.ID == id }); {
		case i < 0:
			return fmt.Errorf("oracle: Options.Deny: there is no freedom %q", id)
		case all[i].Always():
			return fmt.Errorf("oracle: Options.Deny: freedom %s cannot be denied: %s", id, all[i].Branch)
		}
	}
	return nil
}

func (o Options) prepared() *Options {
	o.denied = 0
	for _, f := range o.Deny {
		o.denied |= f.bit()
	}
	if o.Codecs == nil {
		o.Codecs = shippedCodecs
	}
	return &o
}

// shippedCodecs holds the shipped builds' codecs. They are stateless, so all oracles share them.
var shippedCodecs = func() (codecs []engine.Codec) {
	for _, b := range engine.ShippedBuilds() {
		codecs = append(codecs, b.Codec)
	}
	return slices.Clip(codecs)
}()

// codec returns a build's codec. ok is false if the build is unknown.
func (o *Options) codec(build string) (c engine.Codec, ok bool) {
	if i := slices.IndexFunc(o.Codecs, func(c engine.Codec) bool { return c.Name() == build }); i >= 0 {
		return o.Codecs[i], true
	}
	return nil, build == ""
}

// maxStates bounds how many states the oracle keeps for a store.
const maxStates = 2048

// Oracle judges the answers of one store. It must see the calls in the order in which they took effect.
type Oracle struct {
	options *Options
	states  []*State
	tokens  map[string]int // which call returned each token; never iterated over, so map order does not matter
	orphans map[string]int // which fetch dropped an orphan message, by its text; likewise
	calls   int
	latest  int64
	room    room
	touched Touched // what has changed since the last Compare, if there was one
	// compares is set once somebody has compared rows.
	compares bool
}

// New returns an oracle for an empty store. It panics if Options.Check returns an error.
func New(o Options) *Oracle {
	if err := o.Check(); err != nil {
		panic(err.Error())
	}
	return &Oracle{options: o.prepared(), states: []*State{{}}, tokens: map[string]int{}, orphans: map[string]int{}, room: room{kinds: map[kindOf]bool{}}}
}

// States returns how many states the store may be in. It is 1 unless the provider has made a free choice that no answer
// has shown yet.
func (o *Oracle) States() int { return len(o.states) }

// Apply judges an exchange, whose call took effect at some instant within its span. It returns nil if the contract
// allows the answer. A refusal leaves the oracle unchanged.
func (o *Oracle) Apply(e Exchange) *Refusal { return o.Judge(&e) }

// Judge is Apply without a copy. The exchange must not change before the next one.
func (o *Oracle) Judge(e *Exchange) *Refusal {
	refuse := func(section, invariants, format string, args ...any) *Refusal {
		r := &Refusal{Number: o.calls + 1, Exchange: *e}
		r.Objections = appendClause(nil, by(section, invariants), format, args)
		return r
	}
	at := e.At
	if e.Crash != "" {
		why, _, _ := strings.Cut(e.Crash, "\n")
		section := "8"
		if e.Call == nil { // a restart
			section = "9"
		}
		return refuse(section, "", "%s", why)
	}
	if o.options.CallersClocks {
		o.latest = min(o.latest, at.Lo)
	}
	if at.Hi < at.Lo {
		return refuse("2", "", "time goes back during the call")
	}
	if at.Hi < o.latest {
		return refuse("2", "", "time goes back: an earlier call began at %d ms", o.latest)
	}
	at.Lo = max(at.Lo, o.latest)
	codec, ok := o.options.codec(e.Build)
	if !ok {
		return refuse("4.3", "", "it is unknown what build %q decodes", e.Build)
	}
	token := tokenIn(&e.Answer)
	if token != "" && o.tokens[token] > 0 {
		return refuse("2", "I1", "token %q was given before, by call %d", token, o.tokens[token])
	}
	if e.At.Lo == e.At.Hi && o.confirms(e, codec) {
		if !o.compares {
			o.touched.clear()
		}
		o.took(at, token)
		return nil
	}
	answer := e.answer()
	var next []*State
	for _, s := range o.states {
		next = addStates(next, s.judged(&judge{options: o.options, call: e.Call, answer: answer, at: at, codec: codec, failing: e.Failing}))
	}
	if len(next) == 0 {
		r := &Refusal{Number: o.calls + 1, Exchange: *e}
		r.At = at
		for _, s := range o.states {
			j := &judge{options: o.options, call: e.Call, answer: answer, at: at, codec: codec, failing: e.Failing, explaining: true, orphans: o.orphans}
			s.judged(j)
			r.add(j)
		}
		return r
	}
	if len(next) > maxStates {
		return refuse("10", "", "the store may be in more than %d states: the oracle gives up", maxStates)
	}
	switch {
	case !o.compares:
	case len(o.states) == 1 && len(next) == 1:
		o.touched.between(o.states[0], next[0])
	default:
		o.touched.Whole = true
	}
	if _, fetch := e.Call.(call.FetchOrchestrationItem); fetch {
		o.drops(next)
	}
	o.states = next
	o.took(at, token)
	return nil
}

// drops notes the messages that a fetch removes: these are orphans.
func (o *Oracle) drops(next []*State) {
	before := o.states[0].queue
	for _, n := range next {
		for i := 0; i < len(before) && len(n.queue) < len(before); i++ {
			if text, err := call.ItemText(before[i].item); err == nil && !slices.ContainsFunc(n.queue, func(m message) bool { return m.position == before[i].position }) {
				o.orphans[text] = o.calls + 1
			}
		}
	}
}

// took notes that a call was allowed.
func (o *Oracle) took(at Span, token string) {
	o.calls++
	o.latest = at.Lo
	if token != "" {
		o.tokens[token] = o.calls
	}
}

func addStates(list, more []*State) []*State {
	for _, s := range more {
		if !slices.ContainsFunc(list, s.Equal) {
			list = append(list, s)
		}
	}
	return list
}

// Next returns the states that a store may be in after an exchange, or none if the contract does not allow the answer.
// It serves as the step function of a model for checkers of concurrent histories. It does not compare tokens with those
// from earlier answers. It panics if the exchange has a build that the options do not name.
func (s *State) Next(o Options, e Exchange) []*State {
	options := o.prepared()
	codec, ok := options.codec(e.Build)
	if !ok {
		panic(fmt.Sprintf("oracle: unknown build %q", e.Build))
	}
	return addStates(nil, s.judged(&judge{options: options, call: e.Call, answer: e.answer(), at: e.At, codec: codec, failing: e.Failing}))
}

// Clause is a statement with the place in docs/contract/provider.md that it is based on.
type Clause struct {
	Text       string
	Section    string
	Invariants []string
	Freedom    Freedom
}

// String returns the statement, followed by its place.
func (c Clause) String() string {
	place := "docs/contract/provider.md#p" + c.Section
	for _, i := range c.Invariants {
		place += ", " + i
	}
	if c.Freedom != none {
		place += ", freedom " + string(c.Freedom)
	}
	return brief(c.Text) + " [" + place + "]"
}

// Refusal reports that the contract does not allow an answer. It says why, and which answers the contract allows.
type Refusal struct {
	// Number is the call's number, counting from 1.
	Number int
	Exchange
	Objections []Clause
	Allowed    []Clause
}

func (r *Refusal) add(j *judge) {
	for _, c := range j.objections {
		r.Objections = appendOnce(r.Objections, c)
	}
	for _, c := range j.allowed {
		r.Allowed = appendOnce(r.Allowed, c)
	}
}

func appendOnce(list []Clause, c Clause) []Clause {
	if slices.ContainsFunc(list, func(have Clause) bool { return have.Text == c.Text }) {
		return list
	}
	return append(list, c)
}

// invariants returns the ids of the invariants that the objections name. If there are no objections, it returns those
// that the allowed answers name.
func (r *Refusal) invariants() []string {
	var ids []string
	for _, c := range append(r.Objections[:len(r.Objections):len(r.Objections)], r.Allowed...) {
		ids = append(ids, c.Invariants...)
	}
	return ids
}

// Error describes the refusal in several lines.
func (r *Refusal) Error() string {
	var b strings.Builder
	if r.Call == nil {
		fmt.Fprintf(&b, "before call %d, at %s ms: %s\n", r.Number, r.At, r.Exchange)
	} else {
		fmt.Fprintf(&b, "call %d at %s ms: %s\n  answered   %s\n", r.Number, r.At, r.Exchange, r.AnswerText())
	}
	for _, c := range r.Objections {
		fmt.Fprintf(&b, "  but        %s\n", c)
	}
	for _, c := range r.Allowed {
		fmt.Fprintf(&b, "  allowed    %s\n", c)
	}
	if _, more, found := strings.Cut(strings.TrimSpace(r.Crash), "\n"); found {
		fmt.Fprintf(&b, "\n    %s\n", strings.ReplaceAll(more, "\n", "\n    "))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
