package call_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
)

// filled returns a value of zero's type with every field set, so that a lost argument is noticed.
func filled(t *testing.T, zero any) any {
	t.Helper()
	v := reflect.New(reflect.TypeOf(zero)).Elem()
	fill(t, v, 1)
	return v.Interface()
}

func fill(t *testing.T, v reflect.Value, n uint64) {
	t.Helper()
	if v.Type() == reflect.TypeFor[engine.WorkItem]() {
		v.Set(reflect.ValueOf(engine.CancelInstanceItem{Instance: "A", Reason: "no more"}))
		return
	}
	if v.Type() == reflect.TypeFor[engine.Event]() {
		v.Set(reflect.ValueOf(engine.Event{EventID: n, Data: eventdata.KeyValuesCleared{}}))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("text" + string(rune('a'+n)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(n))
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(n)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), n+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0), n+1)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(t, v.Field(i), n+uint64(i))
			}
		}
	default:
		t.Fatalf("a field of type %v: say how it is filled", v.Type())
	}
}

var opaque = cmpopts.IgnoreUnexported(engine.Version{})

// TestThrough checks, for each method, that a call on a provider made by Through reaches the function, and that the
// function's answer is returned. Perform and Through must agree.
func TestThrough(t *testing.T) {
	for _, zero := range call.All() {
		if call.Kind(zero) == observe.CallNone {
			continue
		}
		t.Run(call.Method(zero), func(t *testing.T) {
			want := filled(t, zero).(call.Call)
			var given call.Answer
			var got call.Call
			inner := call.Through("inner", "1.0.0", true, func(_ context.Context, c call.Call) call.Answer {
				got = c
				return given
			})
			outer := call.Through("outer", "1.0.0", true, func(ctx context.Context, c call.Call) call.Answer {
				return call.Perform(ctx, inner, c)
			})
			given.Err = engine.Retryablef("any", "busy")
			if a := call.Perform(context.Background(), outer, want); a.Err != given.Err {
				t.Errorf("error %v, want %v", a.Err, given.Err)
			}
			if diff := cmp.Diff(want, got, opaque); diff != "" {
				t.Errorf("the call is not the one that was made (-made +got):\n%s", diff)
			}
		})
	}
}

// fullAnswer returns an Answer with every field set except the error.
func fullAnswer(t *testing.T) call.Answer {
	v := reflect.New(reflect.TypeFor[call.Answer]()).Elem()
	for i := 1; i < v.NumField(); i++ {
		fill(t, v.Field(i), uint64(i))
	}
	return v.Interface().(call.Answer)
}

// fieldsSet counts the nonzero fields of a. A field that differs from that of given counts 100 extra.
func fieldsSet(a, given call.Answer) int {
	n, av, gv := 0, reflect.ValueOf(a), reflect.ValueOf(given)
	for i := range av.NumField() {
		if av.Field(i).IsZero() {
			continue
		}
		n++
		if !cmp.Equal(av.Field(i).Interface(), gv.Field(i).Interface(), opaque) {
			n += 100
		}
	}
	return n
}

// TestResults checks that each method that has a result returns it in a field of its own type.
func TestResults(t *testing.T) {
	without := map[string]bool{
		"enqueue_for_orchestrator": true, "ack_orchestration_item": true, "abandon_orchestration_item": true,
		"renew_orchestration_item_lock": true, "append_with_execution": true, "enqueue_for_worker": true, "ack_work_item": true,
		"renew_work_item_lock": true, "abandon_work_item": true,
	}
	for _, c := range call.All() {
		if call.Kind(c) == observe.CallNone {
			continue
		}
		given := fullAnswer(t)
		p := call.Through("all", "1.0.0", true, func(context.Context, call.Call) call.Answer { return given })
		want := 1
		if without[call.Method(c)] {
			want = 0
		}
		if got := fieldsSet(call.Perform(context.Background(), p, c), given); got != want {
			t.Errorf("%s: %d fields of the answer are set, want %d", call.Method(c), got, want)
		}
	}
}

// TestNotOffered checks that a management call on a provider without a management surface is a permanent error, and so
// is damaging the store.
func TestNotOffered(t *testing.T) {
	p := call.Through("small", "1.0.0", false, func(context.Context, call.Call) call.Answer { return call.Answer{} })
	for _, c := range []call.Call{call.ListInstances{}, call.CorruptEvent{}} {
		if a := call.Perform(context.Background(), p, c); a.Err == nil || engine.IsRetryable(a.Err) {
			t.Errorf("%s: %v, want a permanent error", call.Method(c), a.Err)
		}
	}
	if got := call.Kind(call.CorruptEvent{}); got != observe.CallNone {
		t.Errorf("kind %v of damage, want none", got)
	}
}
