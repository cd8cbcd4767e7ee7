package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/planterm"
)

// Build is a build that the plan declares: it is like another one, but for what its fields say.
type Build struct {
	// Name is the version of the build, such as 2.1.0, or VERSION+APPLICATION. In its plan, it replaces a known build of
	// that name.
	Name string
	// Like names a build declared before this one, or else a known one.
	Like string
	// Range is the range of pins that a node of the build declares when its options name none; nil means from the least pin
	// of the other's range to the build's own version.
	Range *engine.VersionRange
	// Reads and Writes change the kinds of events that it decodes and emits. It writes nothing that it does not read.
	Reads, Writes KindChange
	// Semantics are the semantics of replay, each for the pins from a version on; a zero Since is the base, for all others.
	// They come instead of those of the other, if there are any.
	Semantics []engine.SemanticsChange
	// Limits are the limits that differ; a zero field is that of the other.
	Limits engine.Limits
	// Lacks are the optional fields that it neither reads nor writes, besides those that the other lacks.
	Lacks []engine.Field
	// Handlers change what it ships.
	Handlers HandlerChange
}

// KindChange adds kinds of events to a set and takes some away. It may name the kinds that builds differ by.
type KindChange struct{ With, Without []engine.EventKind }

// HandlerChange changes what a build ships. An entry is an orchestration with its version (Ship@1.0.0), or the name of an
// activity or of an orchestration in all its versions.
type HandlerChange struct {
	// Only, if not nil, is all that it ships, besides the plan's programs.
	Only []string
	// With is shipped, too, if any known build ships it; Without is not, and may name programs.
	With, Without []string
}

// Declared returns the declared build of that name, or nil if there is none.
func (p *Plan) Declared(name string) *Build {
	i := slices.IndexFunc(p.Builds, func(b Build) bool { return b.Name == name })
	if i < 0 {
		return nil
	}
	return &p.Builds[i]
}

// Ancestors returns the declared builds that a build of that name is made of, itself first, and the name of the known
// build that the last of them is like. For a known build that is its own name alone.
func (p *Plan) Ancestors(name string) (declared []*Build, known string) {
	before := len(p.Builds) // a build may be like those declared before it
	for {
		i := slices.IndexFunc(p.Builds[:before], func(b Build) bool { return b.Name == name })
		if i < 0 {
			return declared, name
		}
		declared, name, before = append(declared, &p.Builds[i]), p.Builds[i].Like, i
	}
}

// AllBuilds returns the builds that the plan may name: the known ones, and in ascending order of version among them those
// that it declares, each with what the plan's contract asks of it. It changes none of the known ones; without declarations
// and contract it returns them. The error names the build that cannot be made, or the contract that is not known.
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
		like := planterm.FindBuild(all, d.Like)
		switch {
		case like == nil:
			return nil, fmt.Errorf("build %s: unknown build %q: want one of %s", d.Name, d.Like, buildNames(all))
		case like.Release != "":
			return nil, fmt.Errorf("build %s: like %s: a released runtime runs as it is; want one of %s", d.Name, d.Like, buildNames(all))
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
	var names []string
	for _, b := range builds {
		names = append(names, b.Name())
	}
	return strings.Join(names, ", ")
}

// make returns the declared build.
func (d *Build) make(like *engine.Build) (*engine.Build, error) {
	text, application, apart := strings.Cut(d.Name, "+")
	v, err := engine.ParseVersion(text)
	if err != nil || apart && application == "" {
		return nil, fmt.Errorf("want a version, such as 2.1.0, or VERSION+APPLICATION, such as 2.1.0+1.0.0")
	}
	b := *like
	b.Version, b.Application = v, application
	b.DefaultRange.Max = v.Triple()
	if d.Range != nil {
		b.DefaultRange = *d.Range
	}
	for _, k := range slices.Concat(d.Reads.With, d.Reads.Without, d.Writes.With, d.Writes.Without) {
		if !slices.Contains(planterm.VariableKinds(), k) {
			return nil, fmt.Errorf("kind %q: builds differ by the kinds %s only", k, kindNames(planterm.VariableKinds()))
		}
	}
	reads := like.Codec.Kinds().With(d.Reads.With...).Without(d.Reads.Without...)
	for _, k := range d.Writes.With {
		if !reads.Has(k) {
			return nil, fmt.Errorf("it writes %s and does not read it", k)
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

func kindNames(kinds []engine.EventKind) string {
	var names []string
	for _, k := range kinds {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

// introduce tells each build since when its predecessors read each of the variable kinds: a kind is younger than the last
// predecessor that does not read it. It replaces the builds, which are in ascending order of version, by copies.
func introduce(builds []*engine.Build) {
	for i, b := range builds {
		made := *b
		made.Introduced = slices.Clone(b.Introduced)
		for _, k := range planterm.VariableKinds() {
			var since *engine.Version
			missing := false
			for _, before := range builds {
				switch reads := before.Codec.Kinds().Has(k); {
				case before.Version.Compare(b.Version) > 0:
				case !reads && before.Version.Compare(b.Version) < 0:
					missing, since = true, nil
				case reads && since == nil:
					v := before.Version.Triple()
					since = &v
				}
			}
			if !missing || since == nil {
				continue
			}
			made.Introduced = append(slices.DeleteFunc(made.Introduced, func(in engine.Introduction) bool { return in.Kind == k }),
				engine.Introduction{Kind: k, Since: *since})
		}
		builds[i] = &made
	}
}
