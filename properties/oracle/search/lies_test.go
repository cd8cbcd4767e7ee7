package search

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/undertest"
)

// lie is a field that a provider hears or says wrongly.
type lie struct{ method, way, path string }

func (l lie) String() string { return l.method + " " + l.way + " " + l.path }

// lying returns a correct provider of which all calls and answers pass through hear and say.
func lying(hear func(c call.Call) call.Call, say func(c call.Call, a *call.Answer) *call.Answer) undertest.Factory {
	return undertest.Factory{New: func() (*undertest.Store, error) {
		s, err := inMemory(nil).New()
		if err != nil {
			return nil, err
		}
		p := s.Provider
		s.Provider = call.Through("liar", "1", true, func(ctx context.Context, c call.Call) call.Answer {
			a := call.Perform(ctx, p, hear(c))
			return *say(c, &a)
		})
		return s, nil
	}}
}

// tells returns a provider that tells a lie each time.
func (l lie) tells(last bool) undertest.Factory {
	return lying(func(c call.Call) call.Call {
		if l.way == "hears" && l.method == call.Method(c) {
			return *rig.Falsify(&c, l.path, last)
		}
		return c
	}, func(c call.Call, a *call.Answer) *call.Answer {
		if l.way == "says" && l.method == call.Method(c) {
			return rig.Falsify(a, l.path, last)
		}
		return a
	})
}

// firstRefusal returns the first refusal within so many sequences.
func firstRefusal(t *testing.T, f undertest.Factory, sequences uint64) *oracle.Refusal {
	lacks := map[string]bool{}
	for seed := uint64(1); seed <= sequences; seed++ {
		c := sample.Must(sequence(f, Options{}.prepared().Oracle, seed, lacks, nil))(t)
		if c.refusal != nil {
			return c.refusal
		}
	}
	return nil
}

// unseenLies says of lies to which the specification does not object why it cannot.
var unseenLies = []struct{ lies, why string }{
	{`.* with the last twice`, "a set, or a list in which a repetition changes nothing"},
	{`.*(PinnedVersion|Pin|Min|Max)\.Pre`, "stores keep three numbers of a pin, and compare these"},
	{`fetch_orchestration_item says Orchestration\.Item\.(Pin|Parent)( gone| there|\..*)`, "a store need not tell them"},
	{`get_execution_info says Execution\.PinnedVersion gone`, "likewise"},
	{`get_(execution|instance)_info says .*\.(StartedAt|CreatedAt|UpdatedAt)`, "freedom F12"},
	{`prune_executions.* hears Options\.KeepLast there`, "0 is what none means"},
	{`(delete|prune|get)_\w+ says \w+ there`, "beside an error, where no result counts"},
	{`fetch_.* hears PollTimeout`, "this store does not wait"},
	{`cleanup_orphaned_sessions hears IdleTimeout`, "the contract has no use for it"},
	{`.* hears (Worker)?Items?\[?\]?\.(Data|FireAtMs|Orchestration|ParentExecutionID|ParentID|ParentInstance|Reason|Result|Version|SessionID|Tag|InitialCustomStatus there|Details.*)`, "a message in the wrong queue, which nobody gets"},
	{`ack_orchestration_item hears (OrchestratorItems\[\]\.(SessionID|Tag)|WorkerItems\[\]\..*)`, "likewise"},
	{`ack_work_item hears Completion\.(Data|Name)`, "likewise"},
}

// TestLyingProviders falsifies each field of each call that a provider gets, and of each answer that it gives, each time.
// The specification must refuse an answer within the sequences that a search makes, or unseenLies says why it cannot.
func TestLyingProviders(t *testing.T) {
	met, has := map[lie]bool{}, map[string]bool{} // has tells which results a method has
	if r := firstRefusal(t, lying(func(c call.Call) call.Call {
		for _, path := range rig.Places(&c) {
			met[lie{call.Method(c), "hears", path}] = true
		}
		return c
	}, func(c call.Call, a *call.Answer) *call.Answer {
		for _, path := range rig.Places(a) {
			met[lie{call.Method(c), "says", path}] = true
		}
		for v, i := reflect.ValueOf(a).Elem(), 0; i < v.NumField(); i++ {
			if !v.Field(i).IsZero() {
				has[call.Method(c)+" "+v.Type().Field(i).Name] = true
			}
		}
		return a
	}), sample.Number(20, 100)); r != nil {
		t.Fatalf("without a lie: %v", r)
	}
	lies := slices.SortedFunc(maps.Keys(met), func(a, b lie) int { return cmp.Compare(a.String(), b.String()) })
	for _, l := range sample.Of(lies, 200) {
		result := l.path[:strings.IndexAny(l.path+".", ".[ ")]
		unseen := l.way == "says" && !has[l.method+" "+result]
		for _, u := range unseenLies {
			unseen = unseen || regexp.MustCompile("^("+u.lies+")$").MatchString(l.String())
		}
		if !unseen && firstRefusal(t, l.tells(false), 1000) == nil && firstRefusal(t, l.tells(true), 1000) == nil {
			t.Errorf("%s: the specification does not object", l)
		}
	}
}
