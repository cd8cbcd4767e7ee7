package scenario

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
)

// formatVersion is the version of corpus entries that this package reads and writes.
const formatVersion = 1

const header = "durosim corpus"

// Mode determines how an entry is replayed.
type Mode string

// The modes of replay.
const (
	// ModeRecorded takes all choices from Entry.Recording and draws nothing.
	ModeRecorded Mode = "recorded"
	// ModeSeeded draws choices from Entry.Seed.
	ModeSeeded Mode = "seeded"
)

// Entry is a stored run: a concrete plan, where its choices come from, and its outcome.
type Entry struct {
	Plan *plan.Plan
	// Expect lists the expectations of the scenario that was run.
	Expect []plan.Expectation
	// Recording holds the choices made. Invariant: it is not nil in mode recorded. Keys derived from sim.RootKey(true)
	// are readable.
	Recording *sim.Recording
	Seed      uint64
	// Found names what the entry demonstrated when it was stored: a property, or a property and a planted bug.
	Found string
	// Verdict is the verdict that a replay must reach: "holds", or "violates" followed by the ids of properties.
	Verdict string
	// Digest is the trace's digest at the time the entry was stored. It is empty if unknown.
	Digest string
	// Needs lists the orchestrations (as "Name@1.0.0") and activities that the run uses and durosim does not ship. A
	// program with its own handlers must register them, or else the replay is a different run. Nil means that the run
	// uses only shipped handlers.
	Needs []string
	// Provider is the command of the storage provider that the run was over, or, for a run of durosim.Test, Config.Store.
	// On any other store it is a different run. Empty means durosim's own.
	Provider string
	Note     string
	Mode     Mode
	// Chooser is the name of the chooser (see sim.NamedChooser) in mode seeded. Empty means random.
	Chooser string
}

// The verdicts of an entry.
const (
	VerdictHolds    = "holds"
	verdictViolates = "violates"
)

// Violates returns the verdict that names the given properties, sorted. Without any, it returns VerdictHolds.
func Violates(properties ...string) string {
	if len(properties) == 0 {
		return VerdictHolds
	}
	ids := slices.Clone(properties)
	slices.Sort(ids)
	return verdictViolates + " " + strings.Join(slices.Compact(ids), " ")
}

// ParseEntry parses a corpus entry. Its plan may use the given builds or, if none are given, the shipped ones. The
// error is an *Error.
func ParseEntry(file string, data []byte, builds ...*engine.Build) (*Entry, error) {
	p := newParser(file, builds)
	p.entry = &Entry{}
	p.read(data)
	e := p.entry
	if p.err != nil {
		own := slices.ContainsFunc(builds, func(b *engine.Build) bool { return b.Application != "" }) // so are the handlers
		if len(e.Needs) > 0 && !own && strings.HasPrefix(p.err.Msg, "unknown build ") {
			p.err.Msg += "; " + needs(e.Needs)
		}
		return nil, p.err
	}
	e.Plan, e.Expect = &p.s.Template, p.s.Expect
	return e, nil
}

// NewChooser returns the chooser for a replay.
func (e *Entry) NewChooser() (sim.Chooser, error) {
	if e.Mode == ModeRecorded {
		return sim.Replay(e.Recording), nil
	}
	named, err := sim.NamedChooser(cmp.Or(e.Chooser, "random"))
	if err != nil {
		return nil, err
	}
	return named(e.Seed), nil
}

// Name returns the entry's file name: 16 hex digits, which are a hash of everything that determines the run, and
// ".txt". The verdict, digest and note are not part of the hash.
func (e *Entry) Name() string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "mode %s\nseed %d\n", e.Mode, e.Seed)
	if e.Chooser != "" {
		fmt.Fprintf(&b, "chooser %s\n", e.Chooser)
	}
	b.Write(Format(e.Plan))
	format(&b, place{s: &Scenario{}, e: e}, ofRecording)
	sum := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(sum[:8]) + ".txt"
}

// Format returns the entry's canonical text, which ParseEntry can parse.
func (e *Entry) Format() []byte {
	var b bytes.Buffer
	at := place{s: &Scenario{Name: e.Plan.Name, Template: *e.Plan, Expect: e.Expect}, e: e, single: len(e.Plan.Faults.Rates)}
	format(&b, at, func(r *row) bool { return r.Corpus && !ofRecording(r) })
	b.WriteByte('\n')
	format(&b, at, func(r *row) bool { return !r.Corpus })
	format(&b, at, ofRecording)
	return b.Bytes()
}

func ofRecording(r *row) bool {
	return r.Name == "recording" || r.Name == "choice" || r.Name == "priority"
}

// recording returns the recording, which is empty if there is none.
func (e *Entry) recording() *sim.Recording {
	if e.Recording == nil {
		return &sim.Recording{}
	}
	return e.Recording
}

// formatVersion reads the version of the format. An entry with another number has another format and is rejected.
func (p *parser) formatVersion() {
	text := p.next("the version of the format").text
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		p.failf("%q: expected the version of the format, as in: %s", text, p.form)
	case n != formatVersion:
		p.failf("this entry is written in corpus format %d, and this durosim reads format %d: replay it with a durosim that reads that format", n, formatVersion)
	}
}

// verdict reads holds or violates PROPERTY....
func (p *parser) verdict() {
	e := p.entry
	e.Verdict = p.keyword(VerdictHolds, verdictViolates)
	for ok := e.Verdict == verdictViolates; ok; ok = p.more() {
		id := p.name("a property")
		if p.err == nil && (quote(id) != id) {
			p.failf("property %q: expected an id, such as S04", id)
		}
		e.Verdict += " " + id
	}
}

func (p *parser) recorded() (c sim.RecordedChoice) {
	if p.entry.Recording == nil {
		p.failf("expected this line after: %s", lookup(p.rows.statements, "recording").Form)
		return c
	}
	k, err := sim.ParseKey(p.name("a key"))
	if err != nil {
		p.failf("%v", err)
	}
	c.Key = k
	return c
}

func (p *parser) seed() uint64 {
	t := p.next("a seed")
	digits, base := t.text, 10
	if hexDigits, ok := strings.CutPrefix(t.text, "0x"); ok {
		digits, base = hexDigits, 16
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil && p.err == nil {
		p.failf("%q: expected a seed, decimal or 0x-hex, of at most 64 bits", t.text)
	}
	return n
}

func (p *parser) finishEntry() {
	e := p.entry
	if e == nil || p.err != nil {
		return
	}
	for _, s := range []string{"durosim", "verdict", "seed", "mode"} {
		if _, has := p.once[s]; !has {
			p.line = 0
			p.failf("a line is missing: expected %s", lookup(p.rows.statements, s).Form)
		}
	}
	if e.Mode == ModeRecorded && e.Chooser != "" {
		p.line = p.once["chooser"]
		p.failf("mode recorded takes no chooser: the recording has the choices")
	}
	if e.Mode != ModeRecorded && e.Recording != nil {
		p.line = p.once["mode"]
		p.failf("mode %s with a recording: expected mode %s", e.Mode, ModeRecorded)
	}
	if e.Mode == ModeRecorded && e.Recording == nil {
		p.line = p.once["mode"]
		p.failf("mode recorded without a recording: expected %s", lookup(p.rows.statements, "recording").Form)
	}
}
