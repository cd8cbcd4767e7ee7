package pretty_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/pretty"
)

type inner struct {
	Text *string
	none *int // unexported fields are shown as well
}

// TestValue checks that a value without pointers is formatted as by %+v, and that a pointer is shown as what it points
// to.
func TestValue(t *testing.T) {
	text, version := "done", engine.V(1, 2, 3)
	for _, c := range []struct {
		value any
		want  string
	}{
		{inner{Text: &text, none: nil}, "{Text:done none:<nil>}"},
		{&inner{}, "{Text:<nil> none:<nil>}"},
		{[]any{&text, nil, 7}, "[done <nil> 7]"},
		{struct{ Pin *engine.Version }{&version}, "{Pin:1.2.3}"},
		{nil, "<nil>"},
	} {
		if got := pretty.Value(c.value); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	for _, plain := range []any{
		engine.ActivityCompletedItem{Instance: "i", ID: 3, Result: "r"}, time.Second, []string{"a", "b"}, errors.New("no"),
		[]engine.WorkItem{engine.TimerFiredItem{ID: 4}}, 7, "text", struct{ For time.Duration }{time.Minute},
		engine.ExecutionMetadata{Status: engine.StatusFailed},
	} {
		if got, want := pretty.Value(plain), fmt.Sprintf("%+v", plain); got != want {
			t.Errorf("got %s, want %s as fmt has it", got, want)
		}
	}
}
