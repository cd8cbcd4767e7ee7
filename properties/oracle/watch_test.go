package oracle

import (
	"errors"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
)

// TestWatchedProvidersAnswerAsBefore checks that an error passes through a watcher unchanged.
func TestWatchedProvidersAnswerAsBefore(t *testing.T) {
	store := memprovider.New(memprovider.Options{})
	p := store.Handle(engine.ShippedBuilds()[1].Codec, observe.Caller{})
	err := Watch(p, "", store.Now, func(Exchange) {}).AckWorkItem(t.Context(), "w9", nil)
	var e *engine.ProviderError
	if !errors.As(err, &e) || e.Operation != "ack_work_item" || e.Retryable {
		t.Errorf("%#v", err)
	}
}
