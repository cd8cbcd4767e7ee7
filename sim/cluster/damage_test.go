package cluster

import (
	"testing"

	"github.com/durosim/durosim/engine"
)

func TestNoCodecReadsDamage(t *testing.T) {
	for _, b := range engine.ShippedBuilds() {
		for _, data := range damagedEvents {
			if e, err := b.Codec.DecodeEvent([]byte(data)); err == nil {
				t.Errorf("%s reads %s as %+v", b.Name(), data, e)
			}
		}
		for _, data := range damagedMessages {
			if m, err := b.Codec.DecodeWorkItem([]byte(data)); err == nil {
				t.Errorf("%s reads %s as %+v", b.Name(), data, m)
			}
		}
	}
}
