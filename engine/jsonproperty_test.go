package engine

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/internal/sample"
)

// The generators fill every field of a type by reflection, so this test fails if the codec forgets a new field.

var scalarGens = map[reflect.Kind]*rapid.Generator[any]{
	reflect.String: rapid.OneOf(
		rapid.SampledFrom([]string{"", "i-1", "sub::5", `{"a":[1,"b"]}`, "<&>\u2028\x7f", "\x00\b\f\n\r\t\"\\/", "\uFFFD 世界 😀"}),
		rapid.String(),
	).AsAny(),
	reflect.Uint64: rapid.OneOf(rapid.Uint64Range(0, 3), rapid.Uint64()).AsAny(),
}

var jsonGen = rapid.MakeConfig{
	Kinds: scalarGens,
	Types: map[reflect.Type]*rapid.Generator[any]{
		reflect.TypeFor[ErrorDetails](): rapid.Custom(drawDetails).AsAny(),
		reflect.TypeFor[[]CarriedEvent](): rapid.Map(rapid.SliceOfN(rapid.Make[CarriedEvent](), 0, 3), func(s []CarriedEvent) []CarriedEvent {
			return slices.Clip(append([]CarriedEvent(nil), s...)) // an empty slice becomes nil
		}).AsAny(),
	},
}

func drawDetails(t *rapid.T) ErrorDetails {
	plain := rapid.MakeConfig{Kinds: scalarGens}
	switch rapid.IntRange(0, 3).Draw(t, "variant") {
	case 0:
		return ErrorDetails{Infrastructure: ptr(rapid.MakeCustom[eventdata.InfrastructureError](plain).Draw(t, "infrastructure"))}
	case 1:
		c := rapid.MakeCustom[eventdata.ConfigurationError](plain).Draw(t, "configuration")
		c.Kind = eventdata.KindNondeterminism
		return ErrorDetails{Configuration: &c}
	case 2:
		a := rapid.MakeCustom[eventdata.ApplicationError](plain).Draw(t, "application")
		a.Kind = rapid.SampledFrom([]eventdata.ApplicationKind{eventdata.AppActivityFailed, eventdata.AppOrchestrationFailed, eventdata.AppPanicked, eventdata.AppCancelled}).Draw(t, "kind")
		if a.Kind != eventdata.AppCancelled {
			a.Reason = ""
		}
		return ErrorDetails{Application: &a}
	default:
		p := rapid.MakeCustom[eventdata.PoisonError](plain).Draw(t, "poison")
		m := &p.MessageType
		m.Kind = rapid.SampledFrom([]eventdata.PoisonKind{eventdata.PoisonOrchestration, eventdata.PoisonActivity, eventdata.PoisonFailedDeserialization}).Draw(t, "kind")
		if m.Kind != eventdata.PoisonActivity {
			m.ActivityName, m.ActivityID = "", 0
		}
		if m.Kind != eventdata.PoisonFailedDeserialization {
			m.Error = ""
		}
		return ErrorDetails{Poison: &p}
	}
}

func genItem[W WorkItem]() *rapid.Generator[WorkItem] {
	return rapid.Map(rapid.MakeCustom[W](jsonGen), func(w W) WorkItem { return w })
}

// dataGens has a generator for each kind of which goldenEvents has a row.
var dataGens = func() map[EventKind]*rapid.Generator[EventData] {
	gens := map[EventKind]*rapid.Generator[EventData]{}
	for _, g := range goldenEvents {
		kind := eventdata.KindOf(g.data)
		if reflect.TypeOf(g.data).NumField() == 0 {
			gens[kind] = rapid.Just(g.data)
			continue
		}
		gens[kind] = rapid.Custom(func(t *rapid.T) EventData {
			v := reflect.New(reflect.TypeOf(g.data)).Elem()
			for i := range v.NumField() {
				fill(t, v.Type().Field(i).Name, v.Field(i))
			}
			return v.Interface().(EventData)
		})
	}
	return gens
}()

func fill(t *rapid.T, name string, v reflect.Value) {
	of := jsonGen.Types[v.Type()]
	if of == nil {
		of = scalarGens[v.Kind()]
	}
	switch {
	case of != nil:
		v.Set(reflect.ValueOf(of.Draw(t, name)).Convert(v.Type()))
	case v.Kind() == reflect.Pointer && rapid.Bool().Draw(t, name+" is there"):
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, name, v.Elem())
	case v.Kind() != reflect.Pointer:
		t.Fatalf("%s: no generator for %v", name, v.Type())
	}
}

var itemGens = []*rapid.Generator[WorkItem]{
	genItem[StartItem](), genItem[ContinueAsNewItem](), genItem[ActivityExecuteItem](), genItem[ActivityCompletedItem](),
	genItem[ActivityFailedItem](), genItem[TimerFiredItem](), genItem[ExternalRaisedItem](), genItem[ExternalRaised2Item](),
	genItem[QueueMessageItem](), genItem[SubOrchCompletedItem](), genItem[SubOrchFailedItem](), genItem[CancelInstanceItem](),
}

func drawItem(t *rapid.T) WorkItem { return rapid.OneOf(itemGens...).Draw(t, "item") }

func drawEvent(t *rapid.T) Event {
	kind := rapid.SampledFrom(Kinds2x().List()).Draw(t, "kind")
	text, number := scalarGens[reflect.String], scalarGens[reflect.Uint64]
	return Event{
		EventID:         max(1, number.Draw(t, "event id").(uint64)),
		SourceEventID:   number.Draw(t, "source").(uint64),
		InstanceID:      text.Draw(t, "instance").(string),
		ExecutionID:     number.Draw(t, "execution").(uint64),
		TimestampMs:     number.Draw(t, "timestamp").(uint64),
		DuroxideVersion: text.Draw(t, "version").(string),
		Data:            dataGens[kind].Draw(t, "data"),
	}
}

// shuffled returns a text as another writer may have written it: with sorted fields, other escapes, and spaces.
func shuffled(t *rapid.T, text []byte) []byte {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("encoding/json refuses %s: %v", text, err)
	}
	return sample.Must(json.MarshalIndent(v, " ", "\t"))(t)
}

// roundTrip checks that a value comes back from what is written, also in the form of another writer, and that equal
// values are written alike.
func (f form[T]) roundTrip(t *rapid.T, v T) {
	text := f.again(t, v)
	other := shuffled(t, text)
	back, err := f.read(other)
	if diff := cmp.Diff(v, back); err != nil || diff != "" {
		t.Fatalf("%s\nis read differently: %v (-want +got):\n%s", other, err, diff)
	}
	if diff := cmp.Diff(string(text), string(f.again(t, back))); diff != "" {
		t.Fatalf("equal values, different texts: %s", diff)
	}
}

func TestEventRoundTrip(t *testing.T) {
	for _, k := range Kinds2x().List() {
		if dataGens[k] == nil {
			t.Fatalf("no generator for %s", k)
		}
	}
	rapid.Check(t, func(t *rapid.T) { eventsOf(allCodec()).roundTrip(t, drawEvent(t)) })
}

func TestWorkItemRoundTrip(t *testing.T) {
	if len(itemGens) != len(WorkItemKinds2x().kinds) {
		t.Fatal("each kind of work item needs a generator")
	}
	rapid.Check(t, func(t *rapid.T) { itemsOf(allCodec()).roundTrip(t, drawItem(t)) })
}

// rereads checks that if a codec claims to read what another codec has read, it reads it to the same value.
func rereads[T any](t *rapid.T, from, to form[T], v T, claims func(T) bool) {
	text, err := from.write(nil, v)
	if err != nil {
		return // a kind that is not from's
	}
	read := sample.Must(from.read(text))(t)
	again, err := to.read(text)
	if same := err == nil && reflect.DeepEqual(read, again); claims(read) != same {
		t.Fatalf("the claim is %v for %s, which is read as %+v, %v", !same, text, again, err)
	}
}

func TestRereads(t *testing.T) {
	builds := ShippedBuilds()
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.SampledFrom(builds).Draw(t, "from").Codec
		to := rapid.SampledFrom(builds).Draw(t, "to").Codec
		rereads(t, eventsOf(from), eventsOf(to), drawEvent(t), func(e Event) bool { return to.(Rereader).RereadsEvent(from, e) })
		rereads(t, itemsOf(from), itemsOf(to), drawItem(t), func(w WorkItem) bool { return to.(Rereader).RereadsWorkItem(from, w) })
	})
}

// Invalid UTF-8 is replaced once, as encoding/json does; after that nothing changes.
func TestInvalidUTF8(t *testing.T) {
	codec := allCodec()
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.SampledFrom([]byte("a\"\\\n\x80\xbf\xc3\xa4\xe4\xb8\x96\xed\xa0\xf0\x9f\x98\xff"))).Draw(t, "bytes"))
		text := sample.Must(codec.AppendEvent(nil, envelope(eventdata.ActivityCompleted{Result: s})))(t)
		back := sample.Must(codec.DecodeEvent(text))(t)
		std, _ := json.Marshal(s)
		var want string
		if err := json.Unmarshal(std, &want); err != nil || back.Data != (eventdata.ActivityCompleted{Result: want}) {
			t.Fatalf("%q comes back as %q, want %q (%v)", s, back.Data, want, err)
		}
		again, err := codec.AppendEvent(nil, back)
		if err != nil || !bytes.Equal(again, text) {
			t.Fatalf("%v\n%s\n%s", err, text, again)
		}
	})
}

// FuzzDecodeEvent compares the scanner with encoding/json: both reject the same texts as JSON, and each field that was
// read has the value that encoding/json sees.
func FuzzDecodeEvent(f *testing.F) {
	for _, g := range goldenEvents {
		f.Add([]byte(goldenEnvelope + g.want))
	}
	f.Add([]byte(` { "x" : [ { "\u0074" : -0.1e+9 } , null ] } `))
	f.Add([]byte("{\"x\":\"\\ud83d\\ude00\xff\\/\",\"x\":[true,false]}"))
	codec := allCodec()
	f.Fuzz(func(t *testing.T, data []byte) {
		var scan eventdata.Object
		scan.Scan(string(data))
		err := scan.Err
		var std map[string]any
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.UseNumber()
		stdErr := decoder.Decode(&std)
		valid := json.Valid(data) && stdErr == nil && std != nil
		if err == nil && !valid {
			t.Fatalf("%q is taken; encoding/json: %v", data, stdErr)
		}
		if err != nil && valid && !strings.Contains(err.Error(), "deep") {
			t.Fatalf("%q is refused: %v", data, err)
		}
		for _, name := range scan.Names() {
			if _, ok := std[name]; !ok && err == nil {
				t.Fatalf("%q: encoding/json has no field %q", data, name)
			}
		}

		e, err := codec.DecodeEvent(data)
		if err != nil {
			return
		}
		text := eventsOf(codec).again(t, e)
		var wrote map[string]any
		decoder = json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&wrote); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !within(wrote, std) {
			t.Fatalf("%q means\n%v, was read as\n%v", data, std, wrote)
		}
	})
}

// within says that all that was written was in what was read. Absent, null, zero and empty are one where the codec
// says so, and fields that nobody asked for may be on top.
func within(wrote, read any) bool {
	switch w := wrote.(type) {
	case map[string]any:
		r, ok := read.(map[string]any)
		return ok && !slices.ContainsFunc(slices.Sorted(maps.Keys(w)), func(k string) bool { return !within(w[k], r[k]) })
	case []any:
		r, ok := read.([]any)
		return ok && slices.EqualFunc(w, r, within)
	case nil:
		return read == nil || read == "" || read == json.Number("0")
	case json.Number:
		return read == w || read == nil && w == "0"
	}
	return wrote == read
}

func FuzzDecodeWorkItem(f *testing.F) {
	for _, g := range goldenItems {
		f.Add([]byte(g.want))
	}
	items := itemsOf(allCodec())
	f.Fuzz(func(t *testing.T, data []byte) {
		if w, err := items.read(data); err == nil {
			items.again(t, w)
		}
	})
}
