package orch

import (
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orchhost"
)

// SetCustomStatus sets the instance's custom status, which clients can read and wait for. The status survives a
// continue-as-new.
func (c *Context) SetCustomStatus(status string) {
	c.host.Update(orchhost.Action{Kind: orchhost.ActionSetCustomStatus, Input: status})
}

// ResetCustomStatus removes the custom status.
func (c *Context) ResetCustomStatus() {
	c.host.Update(orchhost.Action{Kind: orchhost.ActionResetCustomStatus})
}

// CustomStatus returns the custom status and whether there is one.
func (c *Context) CustomStatus() (string, bool) {
	if s := c.host.CustomStatus(); s != nil {
		return *s, true
	}
	return "", false
}

// SetKVValue sets a key of the instance's key-value state.
func (c *Context) SetKVValue(key, value string) {
	c.host.Update(orchhost.Action{Kind: orchhost.ActionSetKV, Name: key, Input: value})
}

// KVValue returns a key's value and whether the instance has the key. It reflects what the code has set so far.
func (c *Context) KVValue(key string) (string, bool) {
	kv := c.host.KV()
	i, found := slices.BinarySearchFunc(kv, key, func(e engine.KVEntry, key string) int { return strings.Compare(e.Key, key) })
	if !found {
		return "", false
	}
	return kv[i].Value, true
}

// KVAllValues returns all keys with their values, sorted by key. The caller owns the slice.
func (c *Context) KVAllValues() []engine.KVPair {
	kv := c.host.KV()
	out := make([]engine.KVPair, len(kv))
	for i, e := range kv {
		out[i] = engine.KVPair{Key: e.Key, Value: e.Value}
	}
	return out
}

// ClearKVValue removes a key, if it exists.
func (c *Context) ClearKVValue(key string) {
	c.host.Update(orchhost.Action{Kind: orchhost.ActionClearKV, Name: key})
}

// ClearAllKVValues removes all keys.
func (c *Context) ClearAllKVValues() { c.host.Update(orchhost.Action{Kind: orchhost.ActionClearAllKV}) }

// PruneKVValuesUpdatedBefore clears, in key order, the keys last set before ms, a store time in milliseconds. It
// returns the number of keys cleared. A key's time is the time of the turn that set it, in that turn and in every
// replay.
func (c *Context) PruneKVValuesUpdatedBefore(ms uint64) int { return c.host.PruneKV(ms) }
