package kernel_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/internal/sample"
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
		t.Str("exactly eleven"[:12])
	})
	word := func(text string) uint64 { return binary.LittleEndian.Uint64(append([]byte(text), make([]byte, 8)...)) }
	want := digestOfWords(3,
		1, uint64(sim.Epoch), ^uint64(0), math.MaxUint64, word("größe"), 7, 0xff00, 2, 01_1_2_4_5_6,
		300, 5, 01,
		0, ^uint64(2), word("exactly "), word("tly elev"), 12, 01_5)
	if got != want {
		t.Errorf("digest %v, want that of the documented words", got)
	}
	for _, c := range []struct {
		name string
		got  sim.Digest
		want string
	}{
		{"empty trace", kernel.NewTrace().Digest(), "sha256:14f7bb61b6a51162585b09331454d2ce978aa5a1ec914140a51a7e8d0de616e5"},
		{"three records", got, "sha256:359ed4e6cb5953a078ef7d0ccaff6d8d679b3c421c5be62f3a647d6b1e55d5ec"},
		{"empty fold", sim.Fold(nil), "sha256:78e8b86e87346f3d16faba92c27977d73c700bf32b125ba17739895d1d7f1249"},
		{"fold of two", sim.Fold([]sim.Digest{{1}, {2}}), "sha256:2d6abbdca720f2dea7ca4eaa94b85910751e81cfe1213aa7daefc89a697c76c7"},
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

// The contents of the buffer, the length of records and the number of digest calls must not matter.
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
	sample.Panics(t, "outside a record", func() { kernel.NewTrace().Int(1) })
	sample.Panics(t, "outside a record", func() { kernel.NewTrace().Bool(true) })
	sample.Panics(t, "outside a record", func() { kernel.NewTrace().Str("") })
	sample.Panics(t, "outside a record", func() { kernel.NewTrace().End() })
	sample.Panics(t, "inside record 0", func() {
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
		{"same", run(1000, 50), -1}, {"first", run(0, 50), 0}, {"in the middle", run(30, 50), 30}, {"last", run(49, 50), 49},
		{"shorter", run(1000, 40), 40}, {"longer", run(1000, 51), 50}, {"none", nil, 0},
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

// TestLongRecords holds records of many fields, and contents of each length, against the form that Trace documents.
func TestLongRecords(t *testing.T) {
	words := []uint64{1, uint64(sim.Epoch)}
	content := []byte("a content that is longer than two words")
	got := digestOf(func(tr *kernel.Trace) {
		shape := uint64(1)
		for n := range content {
			if n == 20 || n == 39 {
				words, shape = append(words, shape), 01_0
			}
			tr.Bytes(content[:n])
			for i := 0; i+8 <= n; i += 8 {
				words = append(words, binary.LittleEndian.Uint64(content[i:]))
			}
			if rest := n % 8; rest > 0 && n > 8 {
				words = append(words, binary.LittleEndian.Uint64(content[n-8:]))
			} else if rest > 0 {
				words = append(words, binary.LittleEndian.Uint64(append(bytes.Clone(content[:n]), make([]byte, 8)...)))
			}
			words = append(words, uint64(n))
			shape = shape*8 + 6
		}
		words = append(words, shape)
	})
	if want := digestOfWords(1, words...); got != want {
		t.Errorf("digest %s, want %s: not the documented words", got, want)
	}
}

// digestOfWords is the digest of so many records that are these words, as Trace documents it.
func digestOfWords(records uint64, words ...uint64) sim.Digest {
	var a, b uint64
	for _, w := range words {
		a = (a<<23 | a>>41) ^ w
		a *= 0x9e3779b97f4a7c15
		b = (b<<41 | b>>23) + w
		b *= 0xd1342543de82ef95
	}
	end := []byte("durosim/trace/3")
	for _, w := range []uint64{a, b, records} {
		end = binary.LittleEndian.AppendUint64(end, w)
	}
	return sha256.Sum256(end)
}

// TestSimilarTracesDiffer: traces that differ in a few bits of one or two fields have different digests, and
// different short hashes.
func TestSimilarTracesDiffer(t *testing.T) {
	seen := map[sim.Digest]bool{}
	short := map[uint64]bool{}
	n := 0
	run := func(x, y uint64) {
		trace := kernel.NewTrace()
		trace.Keep(func(index, sum uint64) { short[sum] = true })
		trace.Begin(sim.Epoch, 1)
		trace.Uint(x)
		trace.Uint(y)
		trace.End()
		seen[trace.Digest()] = true
		n++
	}
	for i := range 64 {
		for k := range 64 {
			run(1<<i, 1<<k)
			run(^(uint64(1) << i), 1<<k)
			run(1<<i, bits.RotateLeft64(3, k))
		}
	}
	if len(seen) != n || len(short) != n {
		t.Errorf("%d traces have %d digests and %d short hashes", n, len(seen), len(short))
	}
}

// TestRecord checks that Record writes the same as the calls for each part.
func TestRecord(t *testing.T) {
	shape := kernel.Fields.Uint().Int().NoText().Bool(true).Bool(false)
	shapes := []kernel.Shape{kernel.Fields}
	for len(shapes) <= 5 {
		shapes = append(shapes, shapes[len(shapes)-1].Uint())
	}
	for _, n := range []int{1, 30} {
		whole, parts := kernel.NewTrace(), kernel.NewTrace()
		var kept [2][]uint64
		whole.Keep(func(_, sum uint64) { kept[0] = append(kept[0], sum) })
		parts.Keep(func(_, sum uint64) { kept[1] = append(kept[1], sum) })
		for i := range n {
			at, v := sim.Epoch.Add(time.Duration(i)*time.Second), uint64(i)<<40
			whole.Record(at, 7, shape, v, v+1, 0, 0, 0)
			parts.Begin(at, 7)
			parts.Uint(v)
			parts.Int(int64(v + 1))
			parts.Str("")
			parts.Bool(true)
			parts.Bool(false)
			parts.End()
			words := [5]uint64{1, v, 3, 4, 5}
			clear(words[i%6:])
			whole.Record(at, 8, shapes[i%6], words[0], words[1], words[2], words[3], words[4])
			parts.Begin(at, 8)
			for _, w := range words[:i%6] {
				parts.Uint(w)
			}
			parts.End()
			content := []byte("a text of this run and no other")[:i]
			whole.RecordBytes(at, 9, shapes[3].Bytes().Bool(i%2 == 0), 1, v, 3, content)
			parts.Begin(at, 9)
			parts.Uint(1)
			parts.Uint(v)
			parts.Uint(3)
			parts.Bytes(content)
			parts.Bool(i%2 == 0)
			parts.End()
		}
		if whole.Digest() != parts.Digest() || !slices.Equal(kept[0], kept[1]) || whole.Records() != uint64(3*n) {
			t.Errorf("%d records: %v and %v", n, whole.Digest(), parts.Digest())
		}
	}
	sample.Panics(t, "with words beyond its shape", func() { kernel.NewTrace().Record(sim.Epoch, 7, shape, 1, 2, 0, 4, 0) })
	sample.Panics(t, "Trace.RecordBytes", func() { kernel.NewTrace().RecordBytes(sim.Epoch, 7, shapes[3], 1, 2, 3, nil) })
	sample.Panics(t, "a Shape of more than", func() { shapes[5].Int() })
	sample.Panics(t, "inside record 0", func() {
		trace := kernel.NewTrace()
		trace.Begin(sim.Epoch, 7)
		trace.Record(sim.Epoch, 7, kernel.Fields, 0, 0, 0, 0, 0)
	})
}
