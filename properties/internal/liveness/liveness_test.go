package liveness_test

import (
	"slices"
	"testing"

	"github.com/durosim/durosim/properties/internal/monitor"
	"github.com/durosim/durosim/properties/internal/rig"
	"github.com/durosim/durosim/sim/plan"
)

func TestLiveness(t *testing.T) {
	const upA = "0 up A 1.5.0\n"
	tests := []struct {
		name  string
		story string
		want  []string
	}{
		// L05: poison comes only after more than max_attempts (10) chargeable deliveries.
		{"L05_ok_after_ten_crashes", upA + "0 seed x 1.5.0\n0 send x\n" +
			rig.Repeat(10, 10, 6000, "%d fetch A x\n%d note A turn") + "70000 fetch A x\n70000 note A poison", nil},
		{"L05_bad_at_max", upA + "0 seed x 1.5.0\n0 send x\n" +
			rig.Repeat(9, 10, 6000, "%d fetch A x\n%d note A turn") + "70000 fetch A x\n70000 note A poison", []string{"L05 x"}},
		{"L05_ok_corrupt", upA + "0 seed x 1.5.0\n0 damage x\n0 send x\n" +
			rig.PoisonCycle(10, "history-error") + "70000 fetch A x\n70000 note A poison", nil},
		{"L05_bad_spurious_history_error", upA + "0 seed x 1.5.0\n0 send x\n" +
			rig.PoisonCycle(10, "history-error") + "70000 fetch A x\n70000 note A poison", []string{"L05 x"}},
		{"L05_bad_incompatible", upA + "0 seed x 1.5.0\n0 send x\n" +
			rig.PoisonCycle(10, "incompatible") + "70000 fetch A x\n70000 note A poison", []string{"L05 x"}},
		{"L05_ok_handler_nowhere", "0 up A 1.5.0 bare\n0 seed x 1.5.0\n0 send x\n" +
			rig.PoisonCycle(10, "no-handler") + "70000 fetch A x\n70000 note A poison", nil},
		{"L05_ok_handler_elsewhere_is_only_counted", "0 up A 1.5.0 bare\n0 up B 1.5.0\n0 seed x 1.5.0\n0 send x\n" +
			rig.PoisonCycle(10, "no-handler") + "70000 fetch A x\n70000 note A poison", nil},
		{"L05_ok_nobody_runs_it", upA + "0 seed x 1.5.0\n0 send x\n" +
			rig.PoisonCycle(10, "incompatible") + "60000 up A 1.5.0 bare\n70000 fetch A x\n70000 note A poison", nil},
		{"L05_bad_what_was_handed_back_counts_nothing", upA + "0 seed x 1.5.0\n0 send x\n" +
			rig.Repeat(5, 10, 10, "%d fetch A x\n%d note A drained\n%d abandon A 0 ignore") +
			rig.Repeat(9, 100, 6000, "%d fetch A x\n%d note A turn") + "70000 fetch A x\n70000 note A poison", []string{"L05 x"}},
		{"L05_ok_activity_lost_ten_times", upA + "0 seed x 1.5.0\n0 work x\n" +
			rig.Repeat(10, 10, 6000, "%d fetchwork A x\n%d note A work-run") + "70000 fetchwork A x\n70000 note A work-poison", nil},
		{"L05_bad_activity_at_max", upA + "0 seed x 1.5.0\n0 work x\n" +
			rig.Repeat(9, 10, 6000, "%d fetchwork A x\n%d note A work-run") + "70000 fetchwork A x\n70000 note A work-poison", []string{"L05 x"}},

		// L01: beyond max_attempts a delivery is poison, and what is delivered again and again ends.
		{"L01_ok_turn_at_max", upA + "0 seed x 1.5.0\n0 send x\n" + rig.Repeat(10, 10, 6000, "%d fetch A x\n%d note A turn"), nil},
		{"L01_bad_turn_beyond_max", upA + "0 seed x 1.5.0\n0 send x\n" + rig.Repeat(11, 10, 6000, "%d fetch A x\n%d note A turn"), []string{"L01 x"}},
		{"L01_bad_bounced_beyond_max", upA + "0 seed x 1.5.0\n0 send x\n" + rig.PoisonCycle(11, "incompatible"), []string{"L01 x"}},
		{"L01_ok_ends_in_time", upA + "0 seed x 1.5.0\n0 damage x\n0 send x\n100 phase calm\n" +
			rig.PoisonCycle(10, "history-error") + "20000 fetch A x\n20000 note A poison\n20001 commit A Failed\n21000 tick\n90000 tick\n90000 finish", nil},
		{"L01_bad_never_ends", upA + "0 seed x 1.5.0\n0 damage x\n0 send x\n100 phase calm\n" +
			rig.Repeat(20, 200, 1000, "%d fetch A x\n%d note A history-error\n%d abandon A 900 ignore") + "21000 tick\n90000 tick\n90000 finish", []string{"L01 x"}},

		// L12: beyond max_attempts a message leaves within ten more deliveries, unless faults end these.
		{"L12_ok_ten_more", upA + "0 seed x 1.5.0\n0 damage x\n0 send x\n" +
			rig.Repeat(10, 10, 6000, "%d fetch A x\n%d note A history-error") + rig.Repeat(10, 60010, 6000, "%d fetch A x\n%d note A poison"), nil},
		{"L12_bad_eleven_more", upA + "0 seed x 1.5.0\n0 damage x\n0 send x\n" +
			rig.Repeat(10, 10, 6000, "%d fetch A x\n%d note A history-error") + rig.Repeat(11, 60010, 6000, "%d fetch A x\n%d note A poison"), []string{"L12 x"}},
		{"L12_ok_the_holder_is_frozen", upA + "0 seed x 1.5.0\n0 damage x\n0 send x\n" +
			rig.Repeat(30, 10, 6000, "%d fetch A x\n%d pause A\n%d resume A"), nil},

		// L02: what a live node runs ends.
		{"L02_ok_ends", upA + "0 seed x 1.5.0\n0 send x\n100 phase calm\n200 fetch A x\n200 note A turn\n201 commit A Completed\n90000 tick\n90000 finish", nil},
		{"L02_bad_message_stays", upA + "0 seed x 1.5.0\n0 send x\n100 phase calm\n90000 tick\n90000 finish", []string{"L02 x", "L02 x"}},
		{"L02_bad_nothing_leads_on", upA + "0 seed x 1.5.0\n100 phase calm\n90000 tick\n90000 finish", []string{"L02 x"}},
		{"L02_ok_progress_extends", upA + "0 seed x 1.5.0\n100 phase calm\n" +
			rig.Repeat(5, 20000, 20000, "%d send x\n%d fetch A x\n%d note A turn\n%d commit A\n%d tick") + "105000 tick\n105000 finish", nil},
		{"L02_ok_unread_by_all_is_no_obligation", upA + "0 seed x 1.5.0\n0 damage x\n100 phase calm\n90000 tick\n90000 finish", nil},
		{"L02_ok_paused_nodes_do_not_count", upA + "0 seed x 1.5.0\n0 send x\n100 phase calm\n100 pause A\n90000 tick", nil},

		// L03: what nobody admits is left alone, and goes on soon after somebody does.
		{"L03_ok_waits", upA + "0 seed x 2.0.0\n0 send x\n100 phase calm\n90000 tick\n90000 finish", nil},
		{"L03_bad_locked", upA + "0 seed x 2.0.0\n0 send x\n100 fetch A x", []string{"L03 x", "L03 x"}},
		{"L03_ok_goes_on", upA + "0 seed x 2.0.0\n0 send x\n100 phase calm\n200 up B 2.0.0\n300 fetch B x\n300 note B turn\n301 commit B Completed\n20000 tick\n20000 finish", nil},
		{"L03_bad_does_not_go_on", upA + "0 seed x 2.0.0\n0 send x\n100 phase calm\n200 up B 2.0.0\n20000 tick\n20000 finish", []string{"L03 x"}},

		// L04: once the awaited build is back, every stuck message leaves the queue.
		{"L04_ok_drained", upA + "0 seed x 2.0.0\n0 send x\n100 phase calm\n1000 phase relief\n1000 up A 2.0.0\n1100 fetch A x\n1100 note A turn\n1101 commit A Completed\n90000 tick\n90000 finish", nil},
		{"L04_bad_stays", upA + "0 seed x 2.0.0\n0 send x\n100 phase calm\n1000 phase relief\n1000 up A 2.0.0\n1100 fetch A x\n90000 tick\n90000 finish", []string{"L04 x", "L02 x"}},
		{"L04_bad_not_freed", upA + "0 seed x 2.0.0\n0 send x\n100 phase calm\n1000 phase relief\n90000 tick\n90000 finish", []string{"L04 x"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := rig.New(t, plan.Plan{}, monitor.Options{Properties: liveIDs})
			if got := r.Tell(test.story); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
				for _, v := range r.M.Violations() {
					t.Log(v.Property, v.Message)
				}
			}
		})
	}
}

// liveIDs are those that the stories are about.
var liveIDs = []string{"L01", "L02", "L03", "L04", "L05", "L12", "S22"}
