package properties_test

import (
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/sim/cluster"
)

// incompatible is what a node logs when it gives an incompatible item back.
const incompatible = "Execution pinned at incompatible version, abandoning (runtime-side check)"

var cfCases = []cfCase{
	{id: "CF-12", reading: ", filtered", text: `
#! provider/filter-ignored: never fetch where instance=future phase=faults|recovery
#! provider/filter-after-lock: never lock where instance=future phase=faults|recovery
seeds 3
fault-phase 3s
node A runs 1.5.0
history future pinned 99.0.0 shape waiting
expect never fetch where instance=future phase=faults|recovery
expect never lock where instance=future phase=faults|recovery
expect never end where instance=future phase=faults|recovery
rescue widen
expect sometimes wait where instance=future
expect always fetch where instance=future has attempt=1 phase=rescue
`},
	{id: "CF-12", reading: ", filter ignored", text: `
#! engine/version-check-missing: never turn where instance=future phase=faults|recovery
#! provider/count-reset-by-abandon: sometimes fetch where instance=future attempt=3
#! engine/incompatible-abandon-ignores-attempt: sometimes fetch where instance=future attempt=3
seeds 3
fault-phase 3s
bug provider/filter-ignored
node A runs 1.5.0
history future pinned 99.0.0 shape waiting
expect always abandon where instance=future has reason=incompatible
expect sometimes fetch where instance=future attempt=1 phase=faults
expect sometimes fetch where instance=future attempt=3
expect never turn where instance=future phase=faults|recovery
expect never end where instance=future phase=faults
`},
	{id: "CF-13", text: `
#! provider/unpinned-incompatible: sometimes end where instance=order status=Completed
#! provider/filter-after-count: violates S01
seeds 3
fault-phase 8s
node A runs 1.5.0
history future pinned 99.0.0 shape waiting
instance order runs ProcessOrder with 7 at 1s
  raise approval data yes after 2s
expect never abandon
expect always fetch where instance=order has attempt=1
expect always end where instance=order has status=Completed output="Ship(7) approved by yes"
expect sometimes end where instance=order status=Completed
`},
	{id: "CF-14", reading: ", filtered", text: `
#! provider/filter-ignored: never poison
seeds 3
fault-phase 12s
node A runs 1.5.0
  option max_attempts 3
history future pinned 99.0.0 shape waiting
expect never poison
rescue widen
expect never fetch where instance=future phase=faults|recovery
expect always end where instance=future has status=Completed phase=rescue
`},
	{id: "CF-14", reading: ", filter ignored", records: logged(cluster.Log{Level: machine.LevelWarn, Text: "Orchestration message exceeded max attempts, marking as poison", Instance: "future",
		Fields: []machine.Field{{Name: "attempt_count", Value: "4"}, {Name: "max_attempts", Value: "3"}, {Name: "cause", Value: "incompatible pin 99.0.0, supported >=0.0.0, <=1.5.0"}}}), bug: "engine/poison-off-by-one", text: `
#! engine/poison-off-by-one: never poison where attempt=1|2|3
#! engine/count-ignored: sometimes poison where instance=future attempt=4 cause=incompatible
#! duroxide-0.1.26/version-check-first: sometimes poison where instance=future attempt=4 cause=incompatible
seeds 3
fault-phase 12s
bug provider/filter-ignored
node A runs 1.5.0
  option max_attempts 3
history future pinned 99.0.0 shape waiting
expect never poison where attempt=1|2|3
expect always abandon where instance=future has attempt=1|2|3 reason=incompatible delay=1s
expect sometimes poison where instance=future attempt=4 cause=incompatible
expect always end where instance=future has status=Failed output="poison: orchestration future exceeded 4 attempts (max 3): incompatible pin 99.0.0, supported >=0.0.0, <=1.5.0"
`},
	{id: "CF-15", reading: ", filtered", text: `
#! provider/filter-ignored: never fetch where instance=future phase=faults
seeds 3
fault-phase 500ms
node A runs 1.5.0
history future pinned 99.0.0 shape waiting
expect never fetch where instance=future phase=faults
expect never end where instance=future phase=faults
expect sometimes wait where instance=future phase=faults
`},
	{id: "CF-15", reading: ", filter ignored", text: `
#! provider/delay-ignored: never fetch where instance=future attempt=2 phase=faults
seeds 3
fault-phase 500ms
bug provider/filter-ignored
node A runs 1.5.0
history future pinned 99.0.0 shape waiting
expect always abandon where instance=future has reason=incompatible delay=1s
expect sometimes fetch where instance=future attempt=1 phase=faults
expect never fetch where instance=future attempt=2 phase=faults
expect never end where instance=future phase=faults
`},
	{id: "CF-16", text: `
#! provider/filter-ignored: always fetch where instance=two has node=B
#! engine/filter-not-declared: always fetch where instance=one has node=A
seeds 4
fault-phase 8s
node A runs 1.5.0
  option supported_replay_versions >=1.0.0, <=1.999.999
node B runs 2.0.0
  option supported_replay_versions >=2.0.0, <=2.999.999
history one pinned 1.5.0 shape waiting kick at 1s..2s
history two pinned 2.0.0 shape waiting kick at 1s..2s
expect always fetch where instance=one has node=A
expect always fetch where instance=two has node=B
expect always turn where instance=one has node=A
expect always turn where instance=two has node=B
expect sometimes skip where instance=two node=A
expect always end where instance=one|two has status=Completed output=kick phase=faults
`},
	{id: "CF-17", text: `
#! provider/check-then-set-lock: violates S05
seeds 12
fault-phase 6s
node A runs 2.0.0
  option supported_replay_versions >=0.0.0, <=2.99.99
node B runs 2.0.0
  option supported_replay_versions >=2.0.0, <=3.0.0
history both pinned 2.5.0 shape waiting kick at 1s..3s
expect sometimes turn where instance=both node=A
expect sometimes turn where instance=both node=B
expect always turn where instance=both has result=Completed
expect never fetch where instance=both attempt=2
expect always end where instance=both has status=Completed phase=faults
`},
	{id: "CF-18", text: `
#! provider/filter-ignored: always fetch where instance=b-1|b-2 has node=B
#! engine/filter-not-declared: never abandon
seeds 4
fault-phase 8s
node A runs 1.5.0
  option supported_replay_versions 1.x
node B runs 2.0.0
  option supported_replay_versions 2.x
history a-1 pinned 1.0.0 shape waiting kick at 1s..2s
history a-2 pinned 1.5.0 shape waiting kick at 1s..2s
history a-3 pinned 1.9.0 shape waiting kick at 1s..2s
history b-1 pinned 2.0.0 shape waiting kick at 1s..2s
history b-2 pinned 2.3.4 shape waiting kick at 1s..2s
expect always fetch where instance=a-1|a-2|a-3 has node=A
expect always fetch where instance=b-1|b-2 has node=B
expect never abandon
expect always end has status=Completed phase=faults
expect sometimes end where instance=a-1
expect sometimes end where instance=a-2
expect sometimes end where instance=a-3
expect sometimes end where instance=b-1
expect sometimes end where instance=b-2
`},
	{id: "CF-19", text: `
#! engine/pins-every-turn: always turn where instance=fresh has pin=1.5.0
seeds 3
fault-phase 10s
node A runs 1.5.0
instance fresh runs Chain with 4 at 1s
at 1500ms upgrade A to 2.0.0
expect always turn where instance=fresh has pin=1.5.0
expect always turn where instance=fresh first=yes has build=1.5.0
expect sometimes turn where instance=fresh build=2.0.0
expect always end where instance=fresh has status=Completed pin=1.5.0
`},
	{id: "CF-20", text: `
#! provider/unpinned-incompatible: sometimes turn where instance=old-style node=A
#! engine/pins-every-turn: always turn where instance=old-style has pin=none
seeds 3
fault-phase 6s
node A runs 1.5.0
  option supported_replay_versions =1.5.0
history old-style unpinned shape waiting kick at 1s
expect sometimes turn where instance=old-style node=A
expect always turn where instance=old-style has pin=none
expect always end where instance=old-style has status=Completed output=kick phase=faults
`},
	{id: "CF-21", builds: futureBuild, text: `
#! provider/pin-inherited: always turn where build=3.1.4 first=yes has pin=3.1.4
#! provider/filter-ignored: never fetch where build=2.0.0 pin=3.1.4
seeds 3
fault-phase 10s
node A runs 3.1.4
node B runs 2.0.0
instance begun-by-a runs Counter with 5 at 1s
instance begun-late runs Counter with 5 at 1s..2s
expect always turn where build=3.1.4 first=yes has pin=3.1.4
expect always turn where build=2.0.0 first=yes has pin=2.0.0
expect never fetch where build=2.0.0 pin=3.1.4
expect always end has status=Completed pin=3.1.4|2.0.0
`},
	{id: "CF-24", text: `
#! engine/pins-every-turn: always turn where instance=family has pin=1.5.0
#! engine/parent-not-told: sometimes end where instance=family status=Completed
seeds 3
fault-phase 10s
node A runs 1.5.0
program leaf
  input
end
program family
  timer 2s
  child leaf hello
end
instance family runs family at 500ms
at 1s upgrade A to 2.0.0
expect always turn where instance=family has pin=1.5.0
expect always turn where instance=family::sub::4 has pin=2.0.0
expect sometimes end where instance=family status=Completed
expect always end where instance=family::sub::4 has status=Completed pin=2.0.0
`},
	{id: "CF-25", reading: ", withdrawn by the ack", text: `
#! provider/cancel-spares-held-work: violates S06
seeds 6
fault-phase 10s
node A runs 1.5.0
  option worker_lock_timeout 2s
fault late-activity 1 in 1
instance restless runs Restless with 3 at 1s
expect sometimes abandon where queue=worker reason=lost
expect always end where instance=restless has status=Completed execution=4 output=done
`},
	{id: "CF-25", reading: ", stale", text: `
#! engine/stale-completion-accepted: always end has status=Completed execution=6 output=done
seeds 12
fault-phase 10s
node A runs 1.5.0
  option orchestration_concurrency 1
fault slow-turn 1 in 4
fault duplicate-completion 1 in 2
load 4 instances from 1s over 2s
  mix 1 Restless with 5
require coverage stale-completion-dropped
expect always end has status=Completed execution=6 output=done
`},
	{id: "CF-26", text: `
#! provider/exclusive-upper-bound: sometimes end where instance=current phase=faults
#! provider/packed-comparison: sometimes end where instance=many-minors phase=faults
seeds 3
fault-phase 5s
node A runs 1.5.0
history oldest pinned 0.0.1 shape waiting kick at 1s
history old pinned 0.5.0 shape waiting kick at 1s
history many-minors pinned 0.1500.0 shape waiting kick at 1s
history current pinned 1.5.0 shape waiting kick at 1s
expect always turn where instance=oldest|old|many-minors|current has phase=faults result=Completed
expect sometimes end where instance=oldest phase=faults
expect sometimes end where instance=old phase=faults
expect sometimes end where instance=many-minors phase=faults
expect sometimes end where instance=current phase=faults
`},
	{id: "CF-27", reading: ", filtered", text: `
#! engine/filter-not-declared: always node in "up" has filter=">=0.0.0, <=1.5.0"
#! provider/filter-ignored: never fetch where instance=future phase=faults|recovery
seeds 3
fault-phase 4s
node A runs 1.5.0
history future pinned 99.0.0 shape waiting kick at 1s
at 1s mark "up"
expect always node in "up" has filter=">=0.0.0, <=1.5.0"
expect never fetch where instance=future phase=faults|recovery
expect sometimes skip where instance=future node=A
`},
	{id: "CF-27", reading: ", filter ignored", text: `
#! engine/version-check-missing: never turn where instance=future phase=faults|recovery
seeds 3
fault-phase 4s
bug provider/filter-ignored
node A runs 1.5.0
history future pinned 99.0.0 shape waiting kick at 1s
instance other runs Leaf at 1s
expect always abandon where instance=future has reason=incompatible
expect never turn where instance=future phase=faults|recovery
expect always end where instance=other has status=Completed
`},
	{id: "CF-28", reading: ", filtered", text: `
#! provider/filter-ignored: never fetch where instance=below|above phase=faults|recovery
#! engine/filter-not-declared: never fetch where instance=below|above phase=faults|recovery
seeds 3
fault-phase 5s
node A runs 2.0.0
  option supported_replay_versions >=1.0.0, <=1.9.999
history below pinned 0.9.0 shape waiting kick at 1s
history within pinned 1.5.0 shape waiting kick at 1s
history above pinned 2.0.0 shape waiting kick at 1s
expect never fetch where instance=below|above phase=faults|recovery
expect sometimes wait where instance=below phase=faults
expect sometimes wait where instance=above phase=faults
expect always end where instance=within has status=Completed phase=faults
`},
	{id: "CF-28", reading: ", filter ignored", text: `
#! engine/version-check-missing: never turn where instance=below|above phase=faults|recovery
seeds 3
fault-phase 5s
bug provider/filter-ignored
node A runs 2.0.0
  option supported_replay_versions >=1.0.0, <=1.9.999
history below pinned 0.9.0 shape waiting kick at 1s
history within pinned 1.5.0 shape waiting kick at 1s
history above pinned 2.0.0 shape waiting kick at 1s
expect never turn where instance=below|above phase=faults|recovery
expect always abandon has reason=incompatible
expect sometimes abandon where instance=below
expect sometimes abandon where instance=above
expect always end where instance=within has status=Completed phase=faults
`},
	{id: "CF-29", text: `
#! engine/history-error-ignores-attempt: sometimes end where instance=alien status=Failed phase=faults
#! provider/undecodable-event-skipped: sometimes poison where instance=alien attempt=4 cause=unreadable
seeds 3
fault-phase 10s
node A runs 1.5.0
  option supported_replay_versions >=0.0.0, <=99.99.99
  option max_attempts 3
history alien pinned 99.0.0 shape unknown-kind
expect always abandon where instance=alien has reason=history-error delay=1s
expect sometimes poison where instance=alien attempt=4 cause=unreadable
expect sometimes end where instance=alien status=Failed phase=faults
expect always end where instance=alien has status=Failed
`},
	{id: "CF-30", records: logged(cluster.Log{Level: machine.LevelWarn, Text: incompatible, Instance: "future",
		Fields: []machine.Field{{Name: "pinned_version", Value: "99.0.0"}, {Name: "supported_range", Value: ">=0.0.0, <=1.5.0"}}}), bug: "engine/version-check-missing", text: `
#! engine/version-check-missing: sometimes abandon where instance=future reason=incompatible
seeds 2
fault-phase 3s
bug provider/filter-ignored
node A runs 1.5.0
history future pinned 99.0.0 shape waiting
expect sometimes abandon where instance=future reason=incompatible
`},
	{id: "CF-31", records: logged(cluster.Log{Level: machine.LevelInfo, Text: "Orchestration dispatcher capability filter configured",
		Fields: []machine.Field{{Name: "supported_range", Value: ">=0.0.0, <=1.5.0"}}}), bug: "engine/filter-not-declared", text: `
#! engine/filter-not-declared: always node in "up" has filter=">=0.0.0, <=1.5.0"
seeds 2
fault-phase 3s
node A runs 1.5.0
at 1s mark "up"
expect always node in "up" has filter=">=0.0.0, <=1.5.0"
`},
}
