package wire_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/durosim/durosim/cmd/simrun/internal/wire"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/foreign"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties/conformance"
	"github.com/durosim/durosim/properties/oracle/search"
	"github.com/durosim/durosim/properties/undertest"
)

// exchange checks lines against the schema. It remembers the requests, because an answer does not name its method.
type exchange struct {
	wire.Lines
	t       *testing.T
	schema  *jsonschema.Compiler
	methods map[string]string // open requests, by id
	seen    map[string]int    // number of results, by method
}

func newExchange(t *testing.T, lines wire.Lines) *exchange {
	t.Helper()
	text := sample.Must(wire.Schema())(t)
	document := sample.Must(jsonschema.UnmarshalJSON(bytes.NewReader(text)))(t)
	x := &exchange{Lines: lines, t: t, schema: jsonschema.NewCompiler(), methods: map[string]string{}, seen: map[string]int{}}
	x.schema.DefaultDraft(jsonschema.Draft2020)
	sample.OK(t, x.schema.AddResource("protocol.json", document))
	return x
}

func (x *exchange) valid(definition string, text []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return sample.Must(x.schema.Compile("protocol.json#/$defs/" + definition))(x.t).Validate(value)
}

func (x *exchange) check(definition string, text []byte) {
	if err := x.valid(definition, text); err != nil {
		x.t.Errorf("%s\n%v", text, err)
	}
}

func (x *exchange) request(line []byte) {
	var r struct {
		ID     json.RawMessage
		Method string
	}
	sample.OK(x.t, json.Unmarshal(line, &r))
	x.methods[string(r.ID)] = r.Method
	x.check("request", line)
}

func (x *exchange) answer(line []byte) {
	x.check("answer", line)
	var a struct{ ID, Result json.RawMessage }
	sample.OK(x.t, json.Unmarshal(line, &a))
	if a.Result != nil {
		method := x.methods[string(a.ID)]
		x.check("results/"+method, a.Result)
		x.seen[method]++
	}
}

func (x *exchange) Send(line []byte) error {
	x.request(line)
	return x.Lines.Send(line)
}

func (x *exchange) Recv() ([]byte, error) {
	line, err := x.Lines.Recv()
	if err == nil {
		x.answer(line)
	}
	return line, err
}

// inMemory serves in-memory stores, as simrun serve does.
var inMemory = &wire.Server{New: func() (*wire.Store, error) {
	return wire.NewStore(wire.StoreOptions{Faults: faults.None(), Seed: 1}), nil
}}

// TestExchangesHaveTheSchema checks every line of random call sequences and of some conformance cases, which together
// cover every method.
func TestExchangesHaveTheSchema(t *testing.T) {
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- inMemory.Serve(t.Context(), toServer, fromServer) }()
	x := newExchange(t, foreign.NewLines(toClient, fromClient))
	client := sample.Must(wire.Dial(t.Context(), x, wire.ClientOptions{Patience: time.Minute}))(t)
	var now int64
	store := undertest.Factory{New: func() (*undertest.Store, error) {
		err := client.Reset(t.Context())
		now = sample.Must(client.Now(t.Context()))(t)
		return &undertest.Store{
			Provider: client, Sequential: true, Broken: client.Failure, NowMs: func() int64 { return now },
			Advance: func(by time.Duration) {
				sample.OK(t, client.Advance(t.Context(), now, by.Milliseconds()))
				now += by.Milliseconds()
			},
			CorruptHistory: func(instance string, execution, event uint64) error {
				return client.Damage(t.Context(), call.CorruptEvent{Instance: instance, ExecutionID: execution, EventID: event})
			},
			CorruptMessage: func(item engine.WorkItem) error { return client.Damage(t.Context(), call.CorruptMessage{Item: item}) },
			FailAckStep:    func(step int) { sample.OK(t, client.FailAckStep(t.Context(), step)) },
		}, err
	}}
	sample.Must(search.Search(store, search.Options{Sequences: int(sample.Number(24, 60))}))(t)
	for _, asked := range conformance.Ask(store, "MG-04", "MG-05", "DL-01", "DL-10", "PR-01") {
		if asked.Failure != "" || asked.Skipped != "" {
			t.Errorf("%v: %s%s", asked.Case, asked.Failure, asked.Skipped)
		}
	}
	sample.Must(client.Admin().ReadHistoryWithExecutionID(t.Context(), "none", 1))(t)
	sample.OK(t, client.SetNow(t.Context(), now+1))
	sample.OK(t, fromClient.Close())
	sample.OK(t, <-served)
	for _, method := range []string{"describe", "reset", "clock_now", "clock_set", "clock_advance", "fail_ack_step"} {
		if x.seen[method] == 0 {
			t.Errorf("no result of %s was seen", method)
		}
	}
	for _, c := range call.All() {
		if _, inProcess := c.(call.Plant); !inProcess && x.seen[call.Method(c)] == 0 {
			t.Errorf("no result of %s was seen", call.Method(c))
		}
	}
}

// TestExamplesHaveTheSchema checks the examples on the page, except for requests that it presents as wrong.
func TestExamplesHaveTheSchema(t *testing.T) {
	for _, block := range fenced(t, "rpc") {
		x := newExchange(t, nil)
		for i := 0; i+1 < len(block); i += 2 {
			request, answer := []byte(block[i][2:]), []byte(block[i+1][2:])
			if strings.Contains(block[i+1], `"code":-32`) {
				if x.valid("request", request) == nil {
					t.Errorf("refused, and yet it has the schema: %s", request)
				}
				x.check("answer", answer)
				continue
			}
			x.request(request)
			x.answer(answer)
		}
	}
}
