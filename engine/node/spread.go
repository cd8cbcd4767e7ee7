package node

import (
	"context"
	"slices"

	"github.com/durosim/durosim/engine"
)

// VersionCount is how many running instances are pinned to a version; Pin nil is unpinned.
type VersionCount struct {
	Pin       *engine.Version
	Instances int
}

// RunningVersionSpread counts the running instances by the pin of their current execution, unpinned ones first, then by
// version: what document 004 asks for, so that operators see which builds are still needed.
func (c Client) RunningVersionSpread(ctx context.Context) ([]VersionCount, error) {
	admin, err := c.Management()
	if err != nil {
		return nil, err
	}
	running, err := admin.ListInstancesByStatus(ctx, engine.StatusRunning)
	if err != nil {
		return nil, clientError(err)
	}
	var spread []VersionCount
	for _, id := range running {
		instance, err := admin.GetInstanceInfo(ctx, id)
		if err != nil {
			return nil, clientError(err)
		}
		execution, err := admin.GetExecutionInfo(ctx, id, instance.CurrentExecutionID)
		if err != nil {
			return nil, clientError(err)
		}
		at, found := slices.BinarySearchFunc(spread, execution.PinnedVersion, func(v VersionCount, pin *engine.Version) int { return comparePins(v.Pin, pin) })
		if !found {
			spread = slices.Insert(spread, at, VersionCount{Pin: execution.PinnedVersion})
		}
		spread[at].Instances++
	}
	return spread, nil
}

func comparePins(a, b *engine.Version) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return a.Compare(*b)
}

// FilteredOut is how many of the running instances a filter keeps from a node.
func FilteredOut(spread []VersionCount, filter *engine.CapabilityFilter) int {
	out := 0
	for _, v := range spread {
		if !filter.Admits(v.Pin) {
			out += v.Instances
		}
	}
	return out
}
