package model

import (
	"fmt"

	"github.com/durosim/durosim/engine"
)

func PinText(pin *engine.Version) string {
	if pin == nil {
		return "none"
	}
	return pin.String()
}

// ItemText describes a message.
func ItemText(r *Row) string {
	kind := r.Kind
	if kind == "" {
		kind = "message of unknown kind"
	}
	if r.ID != 0 {
		return fmt.Sprintf("%s %d/%d (message %d)", kind, r.Execution, r.ID, r.No)
	}
	return fmt.Sprintf("%s (message %d)", kind, r.No)
}

func SamePin(a, b *engine.Version) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Compare(*b) == 0
}
