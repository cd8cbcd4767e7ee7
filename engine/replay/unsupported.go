package replay

import "github.com/durosim/durosim/engine"

// Unsupported is the error of Turn and Verify for stored data that asks for what this package does not do yet. The
// caller is not broken: whoever holds such work can only give it back or end it.
type Unsupported struct{ What string }

// Error is "not supported: " and what.
func (u *Unsupported) Error() string { return "not supported: " + u.What }

// The features that turns do not have yet.
const (
	queueEvents   = "queue events"
	customStatus  = "custom status"
	keyValueState = "key-value state"
)

// FindUnsupported is the error that Turn would return for data that it does not support, nil if it would not. It does not
// run the code, and needs no handler.
func FindUnsupported(in Input) error {
	for i := range in.History {
		if err := unsupportedEvent(in.History[i].Data); err != nil {
			return err
		}
	}
	t := &turn{in: &in}
	if s := in.Start; s != nil && len(in.History) == 0 {
		if err := unsupportedCarry(s.CarryForwardEvents, s.InitialCustomStatus); err != nil {
			return err
		}
	}
	start := t.startMessage()
	for i, m := range in.Messages {
		if err := unsupportedItem(m, i == start); err != nil {
			return err
		}
	}
	return nil
}

// unsupportedEvent refuses what a turn would otherwise lose, or replay as if it meant nothing.
func unsupportedEvent(data engine.EventData) error {
	switch d := data.(type) {
	case engine.OrchestrationStarted:
		return unsupportedCarry(d.CarryForwardEvents, d.InitialCustomStatus)
	case engine.QueueSubscribed, engine.QueueEventDelivered, engine.QueueSubscriptionCancelled:
		return &Unsupported{queueEvents}
	case engine.CustomStatusUpdated:
		return &Unsupported{customStatus}
	case engine.KeyValueSet, engine.KeyValueCleared, engine.KeyValuesCleared:
		return &Unsupported{keyValueState}
	}
	return nil
}

// unsupportedItem is the same for a message; what a continue-as-new carries counts only if the execution starts with it.
func unsupportedItem(m engine.WorkItem, starts bool) error {
	switch m := m.(type) {
	case engine.QueueMessageItem:
		return &Unsupported{queueEvents}
	case engine.ContinueAsNewItem:
		if starts {
			return unsupportedCarry(m.CarryForwardEvents, m.InitialCustomStatus)
		}
	}
	return nil
}

func unsupportedCarry(events []engine.CarriedEvent, status *string) error {
	switch {
	case len(events) > 0:
		return &Unsupported{queueEvents}
	case status != nil:
		return &Unsupported{customStatus}
	}
	return nil
}
