package program

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orchhost"
)

// hostState is an instance's state under an oracleHost.
type hostState struct {
	status *string
	keys   []engine.KVEntry // sorted by key
}

func (h *oracleHost) Update(a orchhost.Action) {
	s := h.state
	i, found := slices.BinarySearchFunc(s.keys, a.Name, func(e engine.KVEntry, key string) int { return strings.Compare(e.Key, key) })
	switch a.Kind {
	case orchhost.ActionSetCustomStatus:
		s.status = &a.Input
		if len(a.Input) > engine.MaxCustomStatusBytes {
			panic(limit(fmt.Sprintf("Custom status size (%d bytes) exceeds limit (%d bytes)", len(a.Input), engine.MaxCustomStatusBytes)))
		}
	case orchhost.ActionResetCustomStatus:
		s.status = nil
	case orchhost.ActionSetKV:
		if len(a.Input) > engine.MaxKVValueBytes {
			panic(limit(fmt.Sprintf("KV value for key '%s' (%d bytes) exceeds limit (%d bytes)", a.Name, len(a.Input), engine.MaxKVValueBytes)))
		}
		if !found {
			s.keys = slices.Insert(s.keys, i, engine.KVEntry{Key: a.Name})
		}
		s.keys[i].Value = a.Input
		if n := len(s.keys); n > engine.MaxKVKeys {
			panic(limit(fmt.Sprintf("KV key count (%d) exceeds limit (%d)", n, engine.MaxKVKeys)))
		}
	case orchhost.ActionClearKV:
		if found {
			s.keys = slices.Delete(s.keys, i, i+1)
		}
	case orchhost.ActionClearAllKV:
		s.keys = nil
	}
}

func (h *oracleHost) CustomStatus() *string { return h.state.status }
func (h *oracleHost) KV() []engine.KVEntry  { return h.state.keys }

func (h *oracleHost) PruneKV(uint64) int {
	n := len(h.state.keys)
	h.state.keys = nil
	return n
}

func (s *hostState) read(input string) (string, error) {
	var key orchhost.RemoteKey
	if err := json.Unmarshal([]byte(input), &key); err != nil {
		return "", err
	}
	for _, e := range s.keys {
		if e.Key == key.Key {
			text, err := json.Marshal(e.Value)
			return string(text), err
		}
	}
	return "null", nil
}
