package node

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/orchhost"
	"github.com/durosim/durosim/internal/sample"
)

func echo(_ *orch.Context, input string) (string, error) { return input, nil }

func ExampleRegistry() {
	r := NewRegistry()
	fmt.Println(r.Register("ProcessOrder", engine.V(1, 0, 0), echo))
	fmt.Println(r.Register("ProcessOrder", engine.V(2, 0, 0), echo))
	fmt.Println(r.Register("ProcessOrder", engine.V(2, 0, 0), echo))
	fmt.Println(r.Register("ProcessOrder", engine.V(1, 5, 0), echo))
	found, _ := r.ResolveStart("ProcessOrder", "")
	fmt.Println(found)
	found, _ = r.ResolveStarted("ProcessOrder", "1.0.0")
	fmt.Println(found)
	// Output:
	// <nil>
	// <nil>
	// duplicate orchestration registration: ProcessOrder@2.0.0
	// non-monotonic orchestration version for ProcessOrder: 1.5.0 is not later than existing latest 2.0.0
	// ProcessOrder@2.0.0
	// ProcessOrder@1.0.0
}

func ExampleRegistry_SetPolicy() {
	r := NewRegistry()
	_ = r.Register("Loop", engine.V(1, 0, 0), echo)
	_ = r.Register("Loop", engine.V(2, 0, 0), echo)
	_ = r.SetPolicy("Loop", Exact(engine.V(1, 0, 0)))
	found, _ := r.ResolveStart("Loop", "")
	fmt.Println(found)
	_ = r.SetPolicy("Loop", Latest())
	found, _ = r.ResolveStart("Loop", "")
	fmt.Println(found)
	// Output:
	// Loop@1.0.0
	// Loop@2.0.0
}

func ExampleRegistry_RegisterActivity() {
	r := NewRegistry()
	charge := func(ctx ActivityContext, input string) (string, error) {
		return fmt.Sprintf("%s paid by %s at delivery %d", input, ctx.Instance, ctx.Attempt), nil
	}
	fmt.Println(r.RegisterActivity("charge", charge))
	fmt.Println(r.RegisterActivity("charge", charge))
	fmt.Println(r.RegisterActivity(orchhost.SystemActivityPrefix+"new_guid", charge))
	run, _ := r.Activity("charge")
	fmt.Println(run(ActivityContext{Instance: "order-1", Attempt: 2}, "5"))
	// Output:
	// <nil>
	// duplicate activity registration: charge
	// activity name '__duroxide_syscall:new_guid' uses reserved prefix '__duroxide_syscall:'
	// 5 paid by order-1 at delivery 2 <nil>
}

// TestResolve checks the rules of docs/contract/runtime.md#r8.
func TestResolve(t *testing.T) {
	var r Registry
	for _, name := range []string{"A@1.0.0", "A@1.5.0", "A@2.0.0-rc.1", "R@2.0.0-rc.1", "R@2.0.0-rc.2", "R@2.0.0"} {
		sample.OK(t, r.Register(name[:1], engine.MustParseVersion(name[2:]), echo))
	}
	sample.OK(t, r.Register("B", engine.V(1, 0, 0), echo))
	sample.OK(t, r.SetPolicy("B", Exact(engine.V(3, 0, 0))))
	for _, c := range []struct{ name, version, start, started string }{
		{"A", "", "A@2.0.0-rc.1", "A@2.0.0-rc.1"},
		{"A", "1.5.0", "A@1.5.0", "A@1.5.0"},
		{"A", "2.0.0-rc.1", "A@2.0.0-rc.1", "A@2.0.0-rc.1"},
		{"A", "2.0.0", "", ""}, // an exact version is compared as written
		{"A", "1.4.0", "", ""},
		{"A", "v1", "", ""},
		{"A", "0.0.0", "", "A@2.0.0-rc.1"}, // a stored 0.0.0 means no version
		{"B", "", "", ""},                  // the policy's version is not registered
		{"B", "1.0.0", "B@1.0.0", "B@1.0.0"}, {"C", "", "", ""}, {"R", "", "R@2.0.0", "R@2.0.0"},
		{"R", "2.0.0", "R@2.0.0", "R@2.0.0"},
		{"R", "2.0.0-rc.1", "R@2.0.0-rc.1", "R@2.0.0-rc.1"},
		{"R", "2.0.0-rc.3", "", ""},
	} {
		for i, resolve := range []func(string, string) (Resolved, bool){r.ResolveStart, r.ResolveStarted} {
			want := []string{c.start, c.started}[i]
			got, found := resolve(c.name, c.version)
			if found != (want != "") || found && got.String() != want {
				t.Errorf("%s@%s: %v, %v; want %q", c.name, c.version, got, found, want)
			}
		}
	}
	if r.SetPolicy("C", Latest()) == nil {
		t.Error("a policy for an unknown name is accepted")
	}
}

func TestDeregister(t *testing.T) {
	charge := func(_ ActivityContext, input string) (string, error) { return "paid " + input, nil }
	r := NewRegistry()
	sample.OK(t, errors.Join(r.Register("Order", engine.V(1, 0, 0), echo), r.Register("Order", engine.V(2, 0, 0), echo), r.RegisterActivity("charge", charge)))
	before := r.Clone()
	if !r.Deregister("Order", engine.V(2, 0, 0)) || r.Deregister("Order", engine.V(2, 0, 0)) || r.Deregister("Nobody", engine.V(1, 0, 0)) {
		t.Error("Deregister does not say what was there")
	}
	if found, _ := r.ResolveStart("Order", ""); found.String() != "Order@1.0.0" {
		t.Errorf("latest is %v", found)
	}
	if _, found := r.ResolveStarted("Order", "2.0.0"); found {
		t.Error("a deregistered version is found")
	}
	// The lower version may be registered again although a later one exists.
	r.Deregister("Order", engine.V(1, 0, 0))
	for _, v := range []engine.Version{engine.V(2, 0, 0), engine.V(1, 0, 0)} {
		sample.OK(t, r.Register("Order", v, echo))
	}
	if !r.DeregisterActivity("charge") || r.DeregisterActivity("charge") {
		t.Error("DeregisterActivity does not say what was there")
	}
	if !slices.Equal(before.Orchestrations(), []string{"Order@1.0.0", "Order@2.0.0"}) {
		t.Errorf("a clone changed: %v", before.Orchestrations())
	}
	if !slices.Equal(before.Activities(), []string{"charge"}) {
		t.Errorf("a clone changed: %v", before.Activities())
	}
	if r.Register("", engine.V(1, 0, 0), echo) == nil || r.Register("X", engine.V(1, 0, 0), nil) == nil || r.Register("X@1", engine.V(1, 0, 0), echo) == nil || r.RegisterActivity("x", nil) == nil {
		t.Error("a registration without a name or code is accepted")
	}
}
