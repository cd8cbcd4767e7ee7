package faults

import (
	"slices"
	"strings"
)

// ProfileFamily is what the ids of the switches of profile duroxide-0.1.26 begin with.
const ProfileFamily = "duroxide-0.1.26/"

// shared is a switch of the profile whose deviation is one of another family, too: one rule, two names.
type shared struct {
	id, is  BugID
	summary string
}

// sharedSwitches are what 0.1.26 gets wrong as others may; the numbers are of the contract's list of corner cases.
func sharedSwitches() []shared {
	return []shared{
		{"duroxide-0.1.26/ack-failure-fails-orchestration", "engine/ack-failure-fails-orchestration",
			"a turn whose ack fails for good is committed as a failure of the orchestration (13.1 4)"},
		{"duroxide-0.1.26/can-input-lost", "engine/can-input-dropped",
			"input that is fetched before a waiting continue-as-new start is acknowledged away, cancels included (13.2 19)"},
		{"duroxide-0.1.26/can-parent-lost", "engine/can-parent-lost",
			"a child that continues as new forgets its parent (13.2 27)"},
		{"duroxide-0.1.26/head-of-line-block", "provider/head-of-line-block",
			"a fetch finds nothing when the oldest instance cannot be delivered (13.1 13)"},
		{"duroxide-0.1.26/packed-comparison", "provider/packed-comparison",
			"the provider compares versions as major*1000000 + minor*1000 + patch (13.5 53)"},
		{"duroxide-0.1.26/queue-message-orphaned", "provider/orphan-dropped-while-start-queued",
			"a queue message is dropped as an orphan although the start waits in a backoff (13.2 20)"},
		{"duroxide-0.1.26/renewal-error-cancels", "engine/renewal-error-cancels-activity",
			"any failed renewal cancels the activity, and its row is acknowledged without a completion (13.1 8)"},
		{"duroxide-0.1.26/terminal-poisoned", "engine/poisons-terminal",
			"a message for an ended instance that was delivered too often fails the instance again (13.1 15)"},
		{"duroxide-0.1.26/undecodable-history-empty", "provider/no-row-decode-error-swallowed",
			"an undecodable history of an instance without a row is delivered as empty"},
		{"duroxide-0.1.26/undecodable-message-lost", "provider/undecodable-message-dropped",
			"a message that cannot be decoded is left out of its batch, and the ack deletes it (13.1 14)"},
		{"duroxide-0.1.26/delete-checks-early", "provider/delete-takes-running",
			"an unforced deletion does not see that the instance has begun to run"},
		{"duroxide-0.1.26/kv-read-in-two-statements", "provider/kv-read-in-two-statements",
			"a client read of the key-value store can see a merge half-way"},
	}
}

// ProfileSwitches are the ids of all that profile duroxide-0.1.26 switches on, ascending. The catalogue has those that a
// property catches; [Switch] knows them all.
func ProfileSwitches() []BugID {
	var ids []BugID
	for _, b := range offered {
		if strings.HasPrefix(string(b.ID), ProfileFamily) {
			ids = append(ids, b.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// Switch is what can be switched on by an id: a bug of the catalogue, or a switch of the profile that no property catches
// yet, which has neither properties nor a scenario.
func Switch(id BugID) (Bug, bool) {
	if b, ok := Lookup(id); ok {
		return b, true
	}
	if !strings.HasPrefix(string(id), ProfileFamily) {
		return Bug{}, false
	}
	if i := slices.IndexFunc(offered, func(b Bug) bool { return b.ID == id }); i >= 0 {
		return offered[i], true
	}
	return Bug{}, false
}

// ProfileTables are the tables of profile duroxide-0.1.26, with the bugs of a set beside it. The switches act without the
// companions that some need to be seen alone.
func ProfileTables(on ...BugID) (*Tables, error) {
	t, err := NewTables(on...)
	if err != nil {
		return nil, err
	}
	for _, id := range ProfileSwitches() {
		if !slices.Contains(on, id) {
			b, _ := Switch(id) // ProfileSwitches has known ids only
			b.apply(t)
		}
	}
	return t, nil
}
