package safety

import (
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// schemaChecker checks S30: the schema of the store changes only by a whole migration, one at a time, and no node works
// with a schema that its build cannot work with. If an operator activates a build, no node runs it before all are ready
// for it, and none as anything older afterwards. The checker knows migrations and activations from the records, the
// schema from the store, and what a build works with and waits for from the plan.
type schemaChecker struct {
	check.Base
	version uint64 // of the store's schema
	oldest  uint64 // the oldest schema whose builds can work with the store
	running uint32 // the node that migrates the store, or 0
	active  string // the build that has been activated, or ""
}

func newSchemaChecker(m *check.Run) check.Checker {
	k := &schemaChecker{Base: check.Base{Run: m}, version: m.World.Plan().FirstSchema()}
	if slices.ContainsFunc(m.World.Plan().Builds, func(b plan.Build) bool { return b.Schema != nil || b.AwaitsActivation }) {
		k.OnRecord = check.SetOf(record.MigrationBegan, record.MigrationEnded, record.NodeStarted, record.CallExecuted, record.StartRefused, record.Activated)
	}
	return k
}

func (k *schemaChecker) Record(r *cluster.Record) {
	if is := k.Run.World.Store().Schema(); r.Kind != record.MigrationEnded && is != k.version {
		k.violate(r, "the store has schema %d: expected %d, since no migration has ended", is, k.version)
		k.version = is
	}
	switch r.Kind {
	case record.MigrationBegan:
		if k.running != 0 {
			k.violate(r, "migrates the store to schema %d while %s does: expected it to wait", r.Schema, k.Run.World.Node(k.running).Name)
		}
		k.running = r.Node
	case record.MigrationEnded:
		k.ended(r)
	case record.Activated:
		k.activated(r)
	case record.StartRefused:
		switch wants := k.Run.World.Plan().SchemaOf(r.Text); {
		case k.older(plan.FindBuild(k.Run.World.Builds(), r.Text)):
		case wants != nil && wants.Version >= k.oldest && (wants.Version >= k.version || !wants.RefusesNewer):
			k.violate(r, "does not start while the store has schema %d: expected its build, of schema %d, to work with it or to migrate it", k.version, wants.Version)
		}
	case record.NodeStarted:
		wants := k.wants(r)
		k.starts(r)
		switch {
		case wants == nil:
		case wants.RefusesNewer && wants.Version < k.version:
			k.violate(r, "starts while the store has schema %d: expected its build, of schema %d, to refuse a newer one", k.version, wants.Version)
		case wants.Version < k.oldest || wants.Version > k.version:
			k.violate(r, "starts while the store has schema %d: expected none that its build, of schema %d, cannot work with", k.version, wants.Version)
		}
	case record.CallExecuted:
		if wants := k.wants(r); wants != nil && (wants.Version < k.oldest || wants.Version > k.version) && (r.Outcome == observe.OutcomeOK || r.Outcome == observe.OutcomeNothing) {
			k.violate(r, "%s takes effect in a store with schema %d: expected nothing from a build of schema %d", r.CallKind, k.version, wants.Version)
		}
	}
}

// ended checks what a migration leaves.
func (k *schemaChecker) ended(r *cluster.Record) {
	is := k.Run.World.Store().Schema()
	switch {
	case r.Text != "" && is != k.version:
		k.violate(r, "%s, and the store has schema %d: expected %d as before", r.Text, is, k.version)
	case r.Node == 0 && is < k.version: // undone
		k.oldest = min(k.oldest, is)
	case r.Text == "" && is <= k.version:
		k.violate(r, "a migration leaves schema %d: expected one above %d", is, k.version)
	}
	if to := k.Run.World.Plan().Migration(is); is > k.version && to != nil && to.Destructive {
		k.oldest = is
	}
	k.version = is
	if r.Node == k.running {
		k.running = 0
	}
}

// activated checks that everybody is ready for what is activated.
func (k *schemaChecker) activated(r *cluster.Record) {
	if k.active = r.Text; r.Node != 0 {
		k.violate(r, "its start activates %s: expected that of an operator alone", k.active)
	}
	for i := range k.Run.World.Nodes() {
		n := &k.Run.World.Nodes()[i]
		if n.Up && k.older(n.Build) && k.waitsFor(n.Build.Name()) != k.active {
			k.Run.Safety("S30", n.Number, 0, "runs %s while %s is activated: expected that to wait for it", n.Build.Name(), k.active)
		}
	}
}

// starts checks that a node starts as what is activated, and as nothing that is yet to be.
func (k *schemaChecker) starts(r *cluster.Record) {
	if k.Run.World.Phase() == cluster.PhaseRescue {
		return // rescue gives nodes the build that stranded work needs
	}
	b := k.Run.World.Node(r.Node).Build
	for i := range k.Run.World.Plan().Schedule {
		if s := &k.Run.World.Plan().Schedule[i]; s.Verb == plan.VerbActivate && s.Build == b.Name() && s.Build != k.active {
			k.violate(r, "starts as %s, which nothing has activated", b.Name())
			return
		}
	}
	if k.active != "" && k.older(b) {
		k.violate(r, "starts as %s, although %s is activated", b.Name(), k.active)
	}
}

// Finish checks that nobody still waits for what has been activated.
func (k *schemaChecker) Finish() {
	for i := range k.Run.World.Nodes() {
		if n := &k.Run.World.Nodes()[i]; n.Up && k.active != "" && k.waitsFor(n.Build.Name()) == k.active {
			k.Run.Safety("S30", n.Number, 0, "still runs %s at the end, although %s is activated", n.Build.Name(), k.active)
		}
	}
}

// older reports whether a build is older than the one that is activated.
func (k *schemaChecker) older(b *engine.Build) bool {
	active := plan.FindBuild(k.Run.World.Builds(), k.active)
	return active != nil && b.Version.Precedence(active.Version) < 0
}

// waitsFor returns the build for whose activation a build waits, or "".
func (k *schemaChecker) waitsFor(build string) string {
	for i := range k.Run.World.Plan().Builds {
		if b := &k.Run.World.Plan().Builds[i]; b.Name == build && b.AwaitsActivation {
			return b.Like
		}
	}
	return ""
}

// wants returns the schema of the build that made the record, or nil.
func (k *schemaChecker) wants(r *cluster.Record) *plan.Schema {
	if r.Node == 0 {
		return nil
	}
	return k.Run.World.Plan().SchemaOf(k.Run.World.Node(r.Node).Build.Name())
}

func (k *schemaChecker) violate(r *cluster.Record, format string, args ...any) {
	k.Run.Violate(check.Breach{Property: "S30", Class: cluster.ClassSafety, Node: r.Node, Message: fmt.Sprintf(format, args...)})
}
