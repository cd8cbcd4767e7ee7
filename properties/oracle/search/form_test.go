package search

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/undertest"
)

// TestEveryCallHasAJSONForm encodes the calls and answers of random sequences and decodes them again.
func TestEveryCallHasAJSONForm(t *testing.T) {
	for seed := range sample.Number(25, 200) {
		if at := (&checker{in: &undertest.Store{NowMs: func() int64 { return 0 }}}).cutoff(newDraws(seed)); at != nil && *at > 1 {
			t.Errorf("%d at time 0", *at)
		}
		sample.Must(sequence(inMemory(nil), oracle.Options{}, seed, map[string]bool{}, func(e oracle.Exchange) {
			entry := oracle.LogEntry{Exchange: e}
			data, err := json.Marshal(entry)
			if err != nil {
				t.Fatalf("%+v: %v", entry, err)
			}
			var back oracle.LogEntry
			if err := json.Unmarshal(data, &back); err != nil {
				t.Fatalf("%s: %v", data, err)
			}
			if again, err := json.Marshal(back); err != nil || !bytes.Equal(again, data) {
				t.Fatalf("%s came back as %s, %v", data, again, err)
			}
		}))(t)
	}
}
