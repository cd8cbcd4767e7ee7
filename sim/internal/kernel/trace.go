package kernel

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math/bits"

	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/internal/mix"
)

// Trace takes the records of a run and keeps a running digest of them, not the records themselves. A record is a time,
// a kind and any number of fields; what kinds and fields mean is up to the caller. Between Begin and End each field is
// one call:
//
//	t.Begin(now, kindSent)
//	t.Uint(node)
//	t.Str(name)
//	t.End()
//
// Adding a record allocates nothing once the buffer has grown to the longest one. Calls out of this order panic.
//
// The hash covers the text "durosim/trace/2", then per record the byte 'R', its kind, the time since the record before
// (since 0 for the first), its fields, and the byte 'E'. A field is a type byte and its value: 'u' or 'i' and a number;
// 'b' and one byte, 0 or 1; 's' or 'x' (Bytes), the length, and the content. Numbers are varints as encoding/binary writes
// them, those with a sign (time and Int) folded as it does. So no two sequences of calls hash alike, and little is
// hashed: at the usual rate of records the digest accounts for the cost of a trace.
type Trace struct {
	sha hash.Hash
	// Invariant: buf[:start] are ended records that sha has not seen yet, buf[start:n] is the open one; the rest is
	// free.
	buf      []byte
	start, n int
	last     sim.Time // of the record begun last
	open     bool
	records  uint64
	keep     func(index, sum uint64)
	sum      uint64
}

const (
	traceFormat = "durosim/trace/2"
	// traceFlush is the number of waiting bytes at which they are hashed: large enough that a call to the hash
	// costs little per record, small enough to stay in the nearest cache.
	traceFlush = 4096
)

// NewTrace returns an empty trace.
func NewTrace() *Trace {
	t := &Trace{sha: sha256.New(), buf: make([]byte, traceFlush+1024)}
	t.sha.Write([]byte(traceFormat))
	return t
}

// Begin starts a record of this kind at this time.
func (t *Trace) Begin(at sim.Time, kind uint16) {
	if t.open {
		panic(fmt.Sprintf("sim: Trace.Begin(%d, %d) inside record %d", at, kind, t.records))
	}
	t.open = true
	t.number('R', uint64(kind))
	t.n += binary.PutVarint(t.room(binary.MaxVarintLen64), int64(at-t.last))
	t.last = at
}

// Int adds a signed number to the open record.
func (t *Trace) Int(v int64) {
	t.mustOpen()
	t.number('i', uint64(v)<<1^uint64(v>>63))
}

// Uint adds an unsigned number to the open record. It is not the same field as an Int of that value.
func (t *Trace) Uint(v uint64) {
	t.mustOpen()
	t.number('u', v)
}

// Bool adds a truth value to the open record.
func (t *Trace) Bool(v bool) {
	n := uint64(0)
	if v {
		n = 1
	}
	t.mustOpen()
	t.number('b', n)
}

// Str adds a text to the open record.
func (t *Trace) Str(s string) {
	t.mustOpen()
	t.number('s', uint64(len(s)))
	t.n += copy(t.room(len(s)), s)
}

// Bytes adds bytes to the open record; it does not keep the slice. It is not the same field as a Str of that content.
func (t *Trace) Bytes(b []byte) {
	t.mustOpen()
	t.number('x', uint64(len(b)))
	t.n += copy(t.room(len(b)), b)
}

// number writes a type byte and an unsigned varint.
func (t *Trace) number(kind byte, v uint64) {
	b := t.room(1 + binary.MaxVarintLen64)
	b[0] = kind
	if v >= 1<<56 {
		t.n += 1 + binary.PutUvarint(b[1:], v)
		return
	}
	// A varint of up to eight bytes without a loop, whose end the processor would mispredict: seven bits go to each byte,
	// in halves, and each byte but the last gets its continuation bit.
	n := (9*bits.Len64(v) + 64) >> 6
	v = v&0x000000000fffffff | v&0x00fffffff0000000<<4
	v = v&0x00003fff00003fff | v&0x0fffc0000fffc000<<2
	v = v&0x007f007f007f007f | v&0x3f803f803f803f80<<1
	binary.LittleEndian.PutUint64(b[1:], v|0x8080808080808080&(1<<(8*(n-1))-1))
	t.n += 1 + n
}

// room returns the free space behind the open record, growing it to at least this many bytes.
func (t *Trace) room(least int) []byte {
	if len(t.buf)-t.n < least {
		t.grow(least)
	}
	return t.buf[t.n:]
}

func (t *Trace) grow(least int) {
	buf := make([]byte, 2*len(t.buf)+least)
	copy(buf, t.buf[:t.n])
	t.buf = buf
}

// End closes the open record.
func (t *Trace) End() {
	t.mustOpen()
	t.room(1)[0] = 'E'
	t.n++
	if t.keep != nil {
		t.sum = shortHash(t.sum, t.buf[t.start:t.n])
		t.keep(t.records, t.sum)
	}
	t.open = false
	t.start = t.n
	t.records++
	if t.start >= traceFlush {
		t.flush()
	}
}

// Records returns the number of records ended so far.
func (t *Trace) Records() uint64 { return t.records }

// Digest returns the digest of the records ended so far. It may be called at any time and disturbs nothing. Each call
// finishes a copy of the hash, so use Keep to compare runs record by record.
func (t *Trace) Digest() sim.Digest {
	t.flush()
	var d sim.Digest
	t.sha.Sum(d[:0])
	return d
}

// Keep sets a hook that gets, at each End, the index of the record and a short running hash of all records since Keep.
// FirstDifference uses them to find the first record in which two runs differ. The short hash is for that alone; only
// the digest proves that two traces are equal. Call it before the first record; nil switches it off.
func (t *Trace) Keep(hook func(index, sum uint64)) { t.keep = hook }

func (t *Trace) mustOpen() {
	if !t.open {
		t.notOpen()
	}
}

func (t *Trace) notOpen() {
	panic(fmt.Sprintf("sim: Trace: a field or End outside a record, after %d records", t.records))
}

// flush hashes the ended records and moves the open one, if any, to the front.
func (t *Trace) flush() {
	t.sha.Write(t.buf[:t.start])
	t.n = copy(t.buf, t.buf[t.start:t.n])
	t.start = 0
}

// shortHash runs a 64-bit hash over b, a word at a time.
func shortHash(h uint64, b []byte) uint64 {
	h = mix.Bits(h + uint64(len(b))*mix.Golden)
	for len(b) >= 8 {
		h = mix.Bits(h ^ binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	var rest [8]byte
	copy(rest[:], b)
	return mix.Bits(h ^ binary.LittleEndian.Uint64(rest[:]))
}
