package jsonbench

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestStrictness lists the input that each library accepts with its default options but the contract's reader rejects.
// If a library's list becomes empty, and BenchmarkDecode shows that it is as fast as the engine's codec, the
// hand-written decoder can be removed.
func TestStrictness(t *testing.T) {
	good := `{"event_id":3,"source_event_id":2,"instance_id":"i-1","execution_id":1,"timestamp_ms":99,"duroxide_version":"2.0.0","type":"ActivityScheduled","name":"n","input":"x"}`
	refused := []struct{ name, text string }{
		{"duplicate field", strings.Replace(good, `"execution_id":1`, `"execution_id":1,"execution_id":2`, 1)},
		{"name in another case", strings.Replace(good, `"name"`, `"NAME"`, 1)},
		{"missing field", strings.Replace(good, `"timestamp_ms":99,`, ``, 1)},
		{"null for a number", strings.Replace(good, `"execution_id":1`, `"execution_id":null`, 1)},
		{"fraction", strings.Replace(good, `"execution_id":1`, `"execution_id":1.5`, 1)},
		{"negative number", strings.Replace(good, `"execution_id":1`, `"execution_id":-1`, 1)},
		{"text for a number", strings.Replace(good, `"execution_id":1`, `"execution_id":"1"`, 1)},
		{"control character", strings.Replace(good, `"n"`, "\"n\x01\"", 1)},
		{"trailing text", good + ` {}`},
		{"trailing comma", strings.Replace(good, `"x"}`, `"x",}`, 1)},
		{"number with a leading zero", strings.Replace(good, `"execution_id":1`, `"execution_id":01`, 1)},
	}
	if _, err := codec().DecodeEvent([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, r := range refused {
		if _, err := codec().DecodeEvent([]byte(r.text)); err == nil {
			t.Errorf("the engine's codec accepts: %s", r.name)
		}
	}
	want := map[string][]string{
		"encoding-json":      {"duplicate field", "name in another case", "missing field", "null for a number"},
		"go-json-experiment": {"name in another case", "missing field", "null for a number"},
		"goccy":              {"duplicate field", "name in another case", "missing field", "null for a number"},
	}
	for _, l := range libraries {
		var got []string
		for _, r := range refused {
			if l.decode([]byte(r.text), new(event)) == nil {
				got = append(got, r.name)
			}
		}
		if d := cmp.Diff(want[l.name], got); d != "" {
			t.Errorf("%s accepts otherwise (-recorded +now):\n%s", l.name, d)
		}
	}
}
