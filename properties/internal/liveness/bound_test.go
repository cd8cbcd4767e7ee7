package liveness

import (
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/properties/internal/track"
)

// defaultInput returns the input for a single node with the default options and two slots.
func defaultInput() boundInput {
	var in boundInput
	o := node.DefaultOptions()
	in.worstOf(&o, o.OrchestratorLockTimeout, o.OrchestrationConcurrency)
	return in
}

func TestBackoffMost(t *testing.T) {
	o, short := node.DefaultOptions(), node.DefaultOptions()
	short.UnregisteredBackoffBase, short.UnregisteredBackoffMax = 100*time.Millisecond, 4*time.Second
	for _, test := range []struct {
		options *node.Options
		n       uint32
		want    int64
	}{
		{&o, 1, 1_000}, {&o, 2, 2_000}, {&o, 6, 32_000}, {&o, 7, 60_000}, {&o, 10, 60_000},
		{&short, 1, 1_000}, // the fixed delays are one second
		{&short, 5, 1_600}, {&short, 9, 4_000},
	} {
		if got := track.BackoffMost(test.options, test.n); got != test.want {
			t.Errorf("delivery %d: %d ms, want %d", test.n, got, test.want)
		}
	}
	// Ten deliveries without a handler: the sum in the contract.
	sum := int64(0)
	for n := uint32(1); n <= o.MaxAttempts; n++ {
		sum += track.BackoffMost(&o, n)
	}
	if sum != 303_000 {
		t.Errorf("sum %d ms, want 303000", sum)
	}
}

func TestBounds(t *testing.T) {
	with := func(change func(*boundInput)) boundInput {
		in := defaultInput()
		change(&in)
		return in
	}
	lost := with(func(in *boundInput) { in.lost = 1000 })
	bounced := with(func(in *boundInput) { in.backoffMs = 303_000 })
	others := with(func(in *boundInput) { in.others = 5 })
	tests := []struct {
		name string
		b    bound
		want int64
	}{
		{"poison", poisonBound(defaultInput()), 11*1000 + 11*20 + 11*100 + 5_020 + 3_000},
		{"poison_with_backoffs", poisonBound(bounced), 303_000 + 11*1000 + 11*20 + 11*100 + 5_020 + 3_000},
		// With two slots, five other messages take three rounds.
		{"poison_behind_others", poisonBound(others), 11*1000 + 11*20 + 11*100 + 11*3*1000 + 5_020 + 3_000},
		// Only one lost holder per attempt counts, no matter how often a wrong node loses its lock.
		{"poison_lost_holders", poisonBound(lost), 11*1000 + 11*20 + 11*100 + 11*5_020 + 3_000},
		{"delivery", deliveryBound(defaultInput()), 3_000 + 100 + 1000 + 5_020},
		{"drain", drainBound(defaultInput()), poisonBound(defaultInput()).ms + 100},
		{"work", workBound(defaultInput()), poisonBound(defaultInput()).ms + 11*5_000},
		{"stall", stallBound(defaultInput(), boundInput{}, false), poisonBound(defaultInput()).ms + raiseMs},
		{"stall_working", stallBound(defaultInput(), defaultInput(), true),
			poisonBound(defaultInput()).ms + workBound(defaultInput()).ms + raiseMs},
	}
	for _, test := range tests {
		if test.b.ms != test.want {
			t.Errorf("%s: %d ms, want %d: %s", test.name, test.b.ms, test.want, test.b)
		}
	}
}

func TestBoundNamesItsTerms(t *testing.T) {
	const want = "20.34s = 11 x 1s two call deadlines + 11 x 20ms longest turn + 11 x 100ms poll cadence + 5.02s lock timeout of a lost holder + 3s fetch backoff"
	if got := poisonBound(defaultInput()).String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestSettleCoversStops checks that obligations wait at the start of a phase for at least as long as the longest start
// of a node.
func TestSettleCoversStops(t *testing.T) {
	if settleMs < 30_000+8_000+500 {
		t.Errorf("settleMs is %d: a graceful stop may take 30 s, a start after a crash 8 s", settleMs)
	}
	if !strings.Contains(deliveryBound(defaultInput()).String(), "3s fetch backoff") {
		t.Error("the delivery bound lacks the fetch backoff")
	}
}
