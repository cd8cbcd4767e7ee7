package model

import (
	"fmt"
	"slices"
)

// Left describes the first difference between an instance and its state before the call that touched it, ignoring its
// lock, queues and executions. It returns "" if there is none.
func (in *Instance) Left() string {
	was := &in.Was
	switch {
	case in.Created != was.Created:
		return fmt.Sprintf("the instance's row exists: %t, before the call: %t", in.Created, was.Created)
	case in.CurrentID != was.CurrentID:
		return fmt.Sprintf("the current execution is %d, before the call %d", in.CurrentID, was.CurrentID)
	case in.Orchestration != was.Orchestration || in.Version != was.Version:
		return fmt.Sprintf("the instance's row names %s@%s, before the call %s@%s", in.Orchestration, in.Version, was.Orchestration, was.Version)
	case in.Parent != was.Parent:
		return fmt.Sprintf("the parent is %+v, before the call %+v", in.Parent, was.Parent)
	case !SameText(in.Values.CustomStatus, was.Values.CustomStatus) || in.Values.CustomVersion != was.Values.CustomVersion:
		return fmt.Sprintf("the custom status is %s in version %d, before the call %s in version %d",
			TextOf(in.Values.CustomStatus), in.Values.CustomVersion, TextOf(was.Values.CustomStatus), was.Values.CustomVersion)
	}
	if seen := keyLeft(in.Values.Store, was.Values.Store); seen != "" {
		return "in the key-value store " + seen
	}
	if seen := keyLeft(in.Values.Delta, was.Values.Delta); seen != "" {
		return "in the key-value delta " + seen
	}
	return ""
}

func keyLeft(now, was []KeyValue) string {
	for i := range max(len(now), len(was)) {
		switch {
		case i == len(now) || i < len(was) && was[i].Key < now[i].Key:
			return fmt.Sprintf("key %q does not exist, before the call it did", was[i].Key)
		case i == len(was) || now[i].Key < was[i].Key:
			return fmt.Sprintf("key %q exists, before the call it did not", now[i].Key)
		case !SameText(now[i].Value, was[i].Value) || now[i].UpdatedMs != was[i].UpdatedMs:
			return fmt.Sprintf("key %q is %s of %d ms, before the call %s of %d ms",
				now[i].Key, TextOf(now[i].Value), now[i].UpdatedMs, TextOf(was[i].Value), was[i].UpdatedMs)
		}
	}
	return ""
}

// SessionsLeft describes how the sessions differ from those before a call. It returns "" if they do not differ.
func (m *Shadow) SessionsLeft(c *Call) string {
	if !c.TouchedSessions || slices.Equal(m.Sessions, c.Sessions) {
		return ""
	}
	return fmt.Sprintf("the sessions are %+v, before the call %+v", m.Sessions, c.Sessions)
}
