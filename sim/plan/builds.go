package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/internal/pretty"
)

// Build is a build declared by the plan. It is like another build except for what its fields say.
type Build struct {
	// Name is the version of the build, such as 2.1.0, or VERSION+APPLICATION. Within its plan, it replaces a known
	// build with the same name.
	Name string
	// Like names the other build, which is either declared earlier or known.
	Like string
	// Range is the range of pins that the build's nodes declare if their options set none. If nil, it goes from the
	// lower end of the other build's range to the build's own version.
	Range *engine.VersionRange `shrink:"drop"`
	// Reads and Writes change which event kinds the build decodes and emits. It can emit only kinds that it decodes.
	Reads, Writes KindChange
	// Semantics, if not empty, replaces the other build's replay semantics. Each entry applies to pins from Since on;
	// an entry with a zero Since applies to all other pins.
	Semantics []engine.SemanticsChange
	// Limits holds the limits that differ. A zero field keeps the other build's limit.
	Limits engine.Limits `shrink:"drop"`
	// Lacks lists optional fields that the build neither reads nor writes, in addition to those that the other build
	// lacks.
	Lacks []engine.Field
	// OwnChildIDs sets engine.Build.OwnChildIDs, which the other build may have as well.
	OwnChildIDs bool `shrink:"drop"`
	// Handlers changes what the build ships.
	Handlers HandlerChange
	// Schema, if not nil, is the schema of the store that the build works with.
	Schema *Schema `shrink:"drop"`
	// AwaitsActivation means that its nodes run the build that it is like from the moment that a step activates that.
	AwaitsActivation bool `shrink:"drop"`
}

// Schema is a version of the store's schema, the migration to it, and what a build with it does with a newer one. A node
// migrates the store before it starts, unless the store has the version already. Builds without a schema work with any.
type Schema struct {
	// Version counts from 1.
	Version uint64
	// Takes is how long the migration takes.
	Takes time.Duration `shrink:"number 0"`
	// Fails is how many attempts fail half-way, and are undone, before one succeeds.
	Fails uint64 `shrink:"number 0"`
	// Destructive means that builds of older schemas cannot work with the migrated store, and that it serves nobody while
	// the migration takes place. Otherwise the migration only adds to the schema.
	Destructive bool `shrink:"drop"`
	// Invalidates means that nodes that are up when the migration ends get a permanent error for the next call of each kind
	// on the queues, as from statements that they have prepared for the older schema.
	Invalidates bool `shrink:"drop"`
	// Reversible means that a step may undo the migration.
	Reversible bool
	// RefusesNewer means that nodes do not start on a newer schema, as programs do that check it when they start.
	RefusesNewer bool `shrink:"drop"`
}

// RunBuilds lists the names of the builds that the nodes run, at the start or from a step on, each once.
func (p *Plan) RunBuilds() (names []string) {
	add := func(build string) {
		if build != "" && !slices.Contains(names, build) {
			names = append(names, build)
		}
	}
	for i := range p.Nodes {
		add(p.Nodes[i].Build)
	}
	for i := range p.Schedule {
		add(p.Schedule[i].Build)
	}
	return names
}

// SchemaOf returns the schema of a build: its own, or that of the build it is like. It returns nil if there is none.
func (p *Plan) SchemaOf(build string) *Schema {
	declared, _ := p.Ancestors(build)
	for _, b := range declared {
		if b.Schema != nil {
			return b.Schema
		}
	}
	return nil
}

// ActivatedAs returns the name of the build that nodes of a build run once a step has activated that, or "".
func (p *Plan) ActivatedAs(build string) string {
	if b := p.Declared(build); b != nil && b.AwaitsActivation {
		return b.Like
	}
	return ""
}

// FirstSchema returns the version of the store's schema at the start: the oldest of those of the nodes that are not
// absent, or 0 if none has one.
func (p *Plan) FirstSchema() (first uint64) {
	for i := range p.Nodes {
		if s := p.SchemaOf(p.Nodes[i].Build); s != nil && !p.Nodes[i].Absent && (first == 0 || s.Version < first) {
			first = s.Version
		}
	}
	return first
}

// Migration returns the schema of that version, which a build of the plan declares, or nil. The first declaration counts.
func (p *Plan) Migration(version uint64) *Schema {
	for i := range p.Builds {
		if s := p.Builds[i].Schema; s != nil && s.Version == version {
			return s
		}
	}
	return nil
}

// ReleaseNames lists the releases of duroxide that plans may name without declaring them.
func ReleaseNames() []string {
	return pretty.Texts(releasedBuilds, func(b *engine.Build) string { return b.Version.String() })
}

// Release returns the declaration of durosim's model of a release of duroxide, such as 0.1.32, or of an application on it,
// such as 0.1.32+2.0.0: what tells it from the build 1.5.0, whose kinds it has. A model has no defects of its release, so
// it does not lack fields or count by it. Release reports false if there is no model of that name, or if known lacks the
// build that it is like.
func Release(name string, known []string) (Build, bool) {
	release, application, apart := strings.Cut(name, "+")
	i := slices.IndexFunc(releasedBuilds, func(b *engine.Build) bool { return b.Version.String() == release })
	like := "1.5.0"
	if with := like + "+" + application; apart && slices.Contains(known, with) {
		like = with
	}
	if i < 0 || !slices.Contains(known, like) {
		return Build{}, false
	}
	of := releasedBuilds[i]
	return Build{Name: name, Like: like, Limits: of.Limits, Semantics: slices.Clone(of.Changes), OwnChildIDs: of.OwnChildIDs}, true
}

// KindChange adds event kinds to a set and removes others. It may name only kinds that differ between builds.
type KindChange struct{ With, Without []engine.EventKind }

// HandlerChange changes which handlers a build ships. An entry is an orchestration with a version (Ship@1.0.0), the
// name of an orchestration, which means all its versions, or the name of an activity.
type HandlerChange struct {
	// Only, if not nil, lists everything that the build ships besides the plan's programs.
	Only []string `shrink:"drop"`
	// With lists handlers to add, each of which some known build must ship. Without lists handlers to remove, and may
	// name programs.
	With, Without []string
}

// Declared returns the declared build with the given name, or nil.
func (p *Plan) Declared(name string) *Build {
	i := slices.IndexFunc(p.Builds, func(b Build) bool { return b.Name == name })
	if i < 0 {
		return nil
	}
	return &p.Builds[i]
}

// Ancestors returns the chain of declared builds that a build is based on, starting with the build itself, and the name
// of the known build at the end of the chain. For a known build it returns no declared builds and the build's own name.
func (p *Plan) Ancestors(name string) (declared []*Build, known string) {
	before := len(p.Builds) // a build may be based only on earlier ones
	for {
		i := slices.IndexFunc(p.Builds[:before], func(b Build) bool { return b.Name == name })
		if i < 0 {
			return declared, name
		}
		declared, name, before = append(declared, &p.Builds[i]), p.Builds[i].Like, i
	}
}

// AllBuilds returns the builds that the plan may name, in ascending order of version: the known builds and those
// declared by the plan, all adapted to the plan's contract. It does not modify the known builds, and returns them as
// they are if there are no declarations and no contract. The error names the build that cannot be made, or the unknown
// contract.
func (p *Plan) AllBuilds(known []*engine.Build) ([]*engine.Build, error) {
	if p.Contract == "" && len(p.Builds) == 0 {
		return known, nil
	}
	all := slices.Clone(known)
	if p.Contract != "" {
		contract, err := engine.ContractOf(p.Contract)
		if err != nil {
			return nil, err
		}
		for i, b := range all {
			all[i] = contract.Build(b)
		}
	}
	if len(p.Builds) == 0 {
		return all, nil
	}
	for i := range p.Builds {
		d := &p.Builds[i]
		if slices.ContainsFunc(p.Builds[:i], func(b Build) bool { return b.Name == d.Name }) {
			return nil, fmt.Errorf("build %s is declared twice", d.Name)
		}
		like := FindBuild(all, d.Like)
		switch {
		case like == nil:
			return nil, fmt.Errorf("build %s: unknown build %q: want one of %s", d.Name, d.Like, buildNames(all))
		case d.AwaitsActivation && d.Name == d.Like:
			return nil, fmt.Errorf("build %s: awaits the activation of %[1]s, itself: want a name of its own, such as 1.5.0+%[1]s", d.Name)
		case like.Release != "":
			return nil, fmt.Errorf("build %s: like %s: a released runtime cannot be changed; want one of %s", d.Name, d.Like, buildNames(all))
		}
		made, err := d.make(like)
		if err != nil {
			return nil, fmt.Errorf("build %s: %w", d.Name, err)
		}
		all = append(slices.DeleteFunc(all, func(b *engine.Build) bool { return b.Name() == d.Name }), made)
	}
	slices.SortStableFunc(all, func(a, b *engine.Build) int { return a.Version.Compare(b.Version) })
	introduce(all)
	return all, nil
}

func buildNames(builds []*engine.Build) string {
	return strings.Join(pretty.Texts(builds, (*engine.Build).Name), ", ")
}

func (d *Build) make(like *engine.Build) (*engine.Build, error) {
	text, application, apart := strings.Cut(d.Name, "+")
	v, err := engine.ParseVersion(text)
	if err == nil && apart && application == "" {
		err = errors.New("no application after the +; expected a version such as 2.1.0")
	}
	if err != nil {
		return nil, fmt.Errorf("%w, or VERSION+APPLICATION, such as 2.1.0+1.0.0", err)
	}
	b := *like
	b.Version, b.Application, b.OwnChildIDs = v, application, like.OwnChildIDs || d.OwnChildIDs
	b.DefaultRange.Max = v.Triple()
	if d.Range != nil {
		b.DefaultRange = *d.Range
	}
	for _, k := range slices.Concat(d.Reads.With, d.Reads.Without, d.Writes.With, d.Writes.Without) {
		if !slices.Contains(VariableKinds(), k) {
			kinds := pretty.Texts(VariableKinds(), func(k engine.EventKind) string { return string(k) })
			return nil, fmt.Errorf("kind %q: builds differ by the kinds %s only", k, strings.Join(kinds, ", "))
		}
	}
	reads := like.Codec.Kinds().With(d.Reads.With...).Without(d.Reads.Without...)
	for _, k := range d.Writes.With {
		if !reads.Has(k) {
			return nil, fmt.Errorf("it writes %s but does not read it", k)
		}
	}
	b.Emits = engine.Kinds()
	for _, k := range like.Emits.With(d.Writes.With...).Without(d.Writes.Without...).List() {
		if reads.Has(k) {
			b.Emits = b.Emits.With(k)
		}
	}
	items := engine.WorkItemKinds1x()
	if reads.Has(eventdata.KindExternalEvent2) {
		items = engine.WorkItemKinds2x()
	}
	lacks := d.Lacks
	if before, ok := like.Codec.(engine.ForgetfulCodec); ok {
		lacks = slices.Concat(before.Lacks(), lacks)
	}
	if b.Codec, err = engine.WithoutFields(engine.NewJSONCodec(b.Name(), reads, items), lacks...); err != nil {
		return nil, err
	}
	d.setSemantics(&b)
	b.Limits = engine.Limits{
		CarriedEvents: cmp.Or(d.Limits.CarriedEvents, like.Limits.CarriedEvents), Keys: cmp.Or(d.Limits.Keys, like.Limits.Keys),
		ValueBytes: cmp.Or(d.Limits.ValueBytes, like.Limits.ValueBytes),
	}
	return &b, nil
}

func (d *Build) setSemantics(b *engine.Build) {
	if len(d.Semantics) == 0 {
		return
	}
	b.Semantics, b.Changes = engine.SemanticsStandard, nil
	for _, c := range d.Semantics {
		if c.Since.IsZero() {
			b.Semantics = c.Semantics
		} else {
			b.Changes = append(b.Changes, c)
		}
	}
	slices.SortStableFunc(b.Changes, func(x, y engine.SemanticsChange) int { return x.Since.Compare(y.Since) })
}

// introduce records, for each build, the version in which its predecessors began to read each kind that varies between
// builds. A kind is newer than the last predecessor that does not read it, though another build of that version may read
// it, as a bridge does. The builds are sorted by version; introduce replaces them with copies.
func introduce(builds []*engine.Build) {
	for i, b := range builds {
		made := *b
		made.Introduced = slices.Clone(b.Introduced)
		for _, k := range VariableKinds() {
			var since, last *engine.Version
			for _, before := range builds {
				switch reads := before.Codec.Kinds().Has(k); {
				case before.Version.Compare(b.Version) > 0:
				case !reads && before.Version.Compare(b.Version) < 0:
					last, since = &before.Version, nil
				case reads && since == nil && (last == nil || before.Version.Compare(*last) > 0):
					v := before.Version.Triple()
					since = &v
				}
			}
			if last == nil || since == nil {
				continue
			}
			made.Introduced = append(slices.DeleteFunc(made.Introduced, func(in engine.Introduction) bool { return in.Kind == k }),
				engine.Introduction{Kind: k, Since: *since})
		}
		builds[i] = &made
	}
}
