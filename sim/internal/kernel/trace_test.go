package kernel_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/internal/kernel"
)

// digestOf returns the digest of one record with these fields.
func digestOf(fields func(t *kernel.Trace)) sim.Digest {
	t := kernel.NewTrace()
	t.Begin(sim.Epoch, 1)
	fields(t)
	t.End()
	return t.Digest()
}

func TestGoldenDigest(t *testing.T) {
	got := digestOf(func(t *kernel.Trace) {
		t.Int(-1)
		t.Uint(math.MaxUint64)
		t.Bool(true)
		t.Str("größe")
		t.Bytes([]byte{0, 255})
		t.End()
		t.Begin(sim.Epoch+5, 300)
		t.End()
		t.Begin(sim.Epoch+2, 0)
	})
	want := sha256.Sum256([]byte("durosim/trace/2" +
		"R\x01" + "\x80\x80\xe3\xa0\xb7\xa6\x95\x06" +
		"i\x01" +
		"u\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" +
		"b\x01" +
		"s\x07größe" +
		"x\x02\x00\xff" +
		"E" +
		"R\xac\x02" + "\x0a" + "E" +
		"R\x00" + "\x05" + "E"))
	if got != want {
		t.Errorf("digest %v, want that of the documented bytes", got)
	}
	for _, c := range []struct {
		name string
		got  sim.Digest
		want string
	}{
		{"empty trace", kernel.NewTrace().Digest(),
			"sha256:12dea2a05a9f448f6fc15ae8b70be629ff8efc9b78e8a11a8ab91291b10cf463"},
		{"three records", got,
			"sha256:de566ec9997bbd86879df93394665f8037cca426b38a0455ee6d810823ca3714"},
		{"empty fold", sim.Fold(nil),
			"sha256:78e8b86e87346f3d16faba92c27977d73c700bf32b125ba17739895d1d7f1249"},
		{"fold of two", sim.Fold([]sim.Digest{{1}, {2}}),
			"sha256:2d6abbdca720f2dea7ca4eaa94b85910751e81cfe1213aa7daefc89a697c76c7"},
	} {
		if c.got.String() != c.want {
			t.Errorf("%s: %v, want %s", c.name, c.got, c.want)
		}
	}
}

func TestFieldsAreNotConfused(t *testing.T) {
	cases := []struct {
		name   string
		fields func(t *kernel.Trace)
	}{
		{"nothing", func(t *kernel.Trace) {}},
		{"int", func(t *kernel.Trace) { t.Int(1) }},
		{"uint", func(t *kernel.Trace) { t.Uint(1) }},
		{"true", func(t *kernel.Trace) { t.Bool(true) }},
		{"false", func(t *kernel.Trace) { t.Bool(false) }},
		{"string", func(t *kernel.Trace) { t.Str("a") }},
		{"bytes", func(t *kernel.Trace) { t.Bytes([]byte("a")) }},
		{"empty string", func(t *kernel.Trace) { t.Str("") }},
		{"empty bytes", func(t *kernel.Trace) { t.Bytes(nil) }},
		{"ab, c", func(t *kernel.Trace) { t.Str("ab"); t.Str("c") }},
		{"a, bc", func(t *kernel.Trace) { t.Str("a"); t.Str("bc") }},
		{"abc", func(t *kernel.Trace) { t.Str("abc") }},
		{"two records", func(t *kernel.Trace) { t.End(); t.Begin(sim.Epoch, 1) }},
		{"other kind", func(t *kernel.Trace) { t.End(); t.Begin(sim.Epoch, 2) }},
		{"other time", func(t *kernel.Trace) { t.End(); t.Begin(sim.Epoch+1, 1) }},
	}
	seen := map[sim.Digest]string{}
	for _, c := range cases {
		d := digestOf(c.fields)
		if other, ok := seen[d]; ok {
			t.Errorf("%s and %s have the same digest", other, c.name)
		}
		seen[d] = c.name
	}
}

// What is in the buffer, how long a record is and how often the digest is asked must not show.
func TestDigestDoesNotDependOnBuffering(t *testing.T) {
	long := strings.Repeat("x", 20_000)
	run := func(ask bool) (last sim.Digest, open sim.Digest) {
		trace := kernel.NewTrace()
		for i := range 500 {
			trace.Begin(sim.Epoch, uint16(i))
			trace.Int(int64(i))
			if i == 123 || i == 321 {
				trace.Str(long)
			}
			if ask && i%7 == 0 {
				before := trace.Digest()
				if trace.Digest() != before {
					t.Fatal("asking twice gives two answers")
				}
			}
			trace.Str("y")
			trace.End()
			if ask {
				trace.Digest()
			}
		}
		if trace.Records() != 500 {
			t.Fatalf("%d records", trace.Records())
		}
		last = trace.Digest()
		trace.Begin(sim.Epoch, 1)
		trace.Str("open")
		return last, trace.Digest()
	}
	often, oftenOpen := run(true)
	once, onceOpen := run(false)
	if often != once {
		t.Errorf("%v when asked often, %v when asked once", often, once)
	}
	if oftenOpen != once || onceOpen != once {
		t.Error("the open record is in the digest")
	}
}

func TestTraceOrderOfCalls(t *testing.T) {
	mustPanic(t, "outside a record", func() { kernel.NewTrace().Int(1) })
	mustPanic(t, "outside a record", func() { kernel.NewTrace().Bool(true) })
	mustPanic(t, "outside a record", func() { kernel.NewTrace().Str("") })
	mustPanic(t, "outside a record", func() { kernel.NewTrace().End() })
	mustPanic(t, "inside record 0", func() {
		trace := kernel.NewTrace()
		trace.Begin(0, 1)
		trace.Begin(0, 1)
	})
}

func TestFirstDifference(t *testing.T) {
	run := func(changed uint64, records uint64) []sim.Mark {
		trace := kernel.NewTrace()
		var marks []sim.Mark
		trace.Keep(func(index, sum uint64) { marks = append(marks, sim.Mark{Index: index, Sum: sum}) })
		for i := range records {
			trace.Begin(sim.Epoch, 1)
			v := i
			if i == changed {
				v = 1 << 40
			}
			trace.Uint(v)
			trace.End()
		}
		return marks
	}
	plain := run(1000, 50)
	for _, c := range []struct {
		name  string
		other []sim.Mark
		want  int
	}{
		{"same", run(1000, 50), -1},
		{"first", run(0, 50), 0},
		{"in the middle", run(30, 50), 30},
		{"last", run(49, 50), 49},
		{"shorter", run(1000, 40), 40},
		{"longer", run(1000, 51), 50},
		{"none", nil, 0},
	} {
		if got := sim.FirstDifference(plain, c.other); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
		if got := sim.FirstDifference(c.other, plain); got != c.want {
			t.Errorf("%s, swapped: %d, want %d", c.name, got, c.want)
		}
	}
	if got := sim.FirstDifference(nil, nil); got != -1 {
		t.Errorf("nothing and nothing: %d", got)
	}
}

func TestTraceSteadyStateAllocatesNothing(t *testing.T) {
	trace := kernel.NewTrace()
	trace.Keep(func(index, sum uint64) {})
	payload := bytes.Repeat([]byte("z"), 100)
	record := func() {
		trace.Begin(sim.Epoch, 3)
		trace.Int(1)
		trace.Str("instance")
		trace.Bytes(payload)
		trace.Bool(false)
		trace.End()
	}
	if n := testing.AllocsPerRun(1000, record); n != 0 {
		t.Errorf("%v allocations a record", n)
	}
}

// TestNumbersOfEachLength hashes numbers of each length beside the form that Trace documents.
func TestNumbersOfEachLength(t *testing.T) {
	want := []byte("durosim/trace/2R\x01")
	want = binary.AppendVarint(want, int64(sim.Epoch))
	got := digestOf(func(tr *kernel.Trace) {
		for shift := range 65 {
			for _, v := range []uint64{1<<shift - 1, 1 << shift, 0x5a5a5a5a5a5a5a5a & (1<<shift - 1)} {
				tr.Uint(v)
				tr.Int(int64(v))
				want = binary.AppendUvarint(append(want, 'u'), v)
				want = binary.AppendVarint(append(want, 'i'), int64(v))
			}
		}
	})
	if want := sim.Digest(sha256.Sum256(append(want, 'E'))); got != want {
		t.Errorf("digest %s, want %s: a number is not written as encoding/binary writes it", got, want)
	}
}
