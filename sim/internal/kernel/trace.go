package kernel

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/durosim/durosim/sim"
)

// Trace takes the records of a run and keeps a running digest of them, but not the records themselves. A record
// consists of a time, a kind and any number of fields; the caller defines the meaning of kinds and fields. Between
// Begin and End, each field is one call:
//
//	t.Begin(now, kindSent)
//	t.Uint(node)
//	t.Str(name)
//	t.End()
//
// Adding a record allocates nothing. Calls in any other order panic.
//
// This is digest format 3. A record is a sequence of 64-bit words: its kind, the time since the previous record (since
// 0 for the first), its fields, and its shape. Int and Uint produce one word with their value. Str and Bytes produce
// their content, eight bytes to a word in little-endian order, followed by their length; if the content has eight bytes
// or more, its last word ends with the end of the content and may thus repeat part of the word before. Bool produces no
// word. The shape is a 1 followed by three bits for each field, which identify the call and, for Bool, the value. After
// twenty fields the shape is written, and restarts with a 1 and three zero bits. Read backward, a sequence of words has
// only one meaning, so different sequences of calls always produce different words.
//
// Each word is mixed into two 64-bit numbers, a and b, in two ways that share no multiplier, rotation or operator and
// lose no information. The digest is the SHA-256 of the text "durosim/trace/3", a, b and the number of records, each as
// eight little-endian bytes. Two different traces have the same digest with a probability of about 1 in 2^128. This
// holds for accidental differences, not for deliberate ones. SHA-256 over all bytes would cost as much as everything
// else that a trace does.
type Trace struct {
	now     lanes    // includes the open record
	before  lanes    // excludes the open record
	shape   uint64   // shape of the open record; 0 outside a record
	last    sim.Time // time of the last record begun
	records uint64
	keep    func(index, sum uint64)
}

const (
	traceFormat = "durosim/trace/3"
	// shapeFull is the lowest shape that has no room for another field.
	shapeFull uint64 = 1 << 60
)

// The codes for fields in a shape.
const (
	shapeInt = 1 + iota
	shapeUint
	shapeFalse
	shapeTrue
	shapeStr
	shapeBytes
)

// lanes are the two numbers from which the digest is computed.
type lanes struct{ a, b uint64 }

func (l *lanes) add(word uint64) { *l = l.with(word) }

// with returns the lanes with one more word mixed in. It works on a copy, so that the lanes stay in registers.
func (l lanes) with(word uint64) lanes {
	return lanes{
		a: (bits.RotateLeft64(l.a, 23) ^ word) * 0x9e3779b97f4a7c15,
		b: (bits.RotateLeft64(l.b, 41) + word) * 0xd1342543de82ef95,
	}
}

// NewTrace returns an empty trace.
func NewTrace() *Trace { return &Trace{} }

// Shape describes the fields of a record without texts, for use with Record. Make it once, with at most five numbers:
// kernel.Fields.Uint().Uint().Bool(false).
type Shape struct {
	bits  uint64
	words int  // number of fields that produce a word
	bytes bool // bytes follow the numbers
}

// maxWords is the maximum number of words in a call to Record.
const maxWords = 5

// Fields is the shape of a record without fields.
var Fields = Shape{bits: 1}

// Uint adds an unsigned number to the shape.
func (s Shape) Uint() Shape { return s.number(shapeUint) }

// Int adds a signed number to the shape.
func (s Shape) Int() Shape { return s.number(shapeInt) }

// NoText adds an empty text to the shape. Its word is 0, the length.
func (s Shape) NoText() Shape { return s.number(shapeStr) }

func (s Shape) number(code uint64) Shape {
	if s.words == maxWords {
		panic(fmt.Sprintf("sim: a Shape of more than %d numbers", maxWords))
	}
	return Shape{s.bits<<3 | code, s.words + 1, false}
}

// Bytes adds bytes to the shape, for RecordBytes.
func (s Shape) Bytes() Shape { return Shape{s.bits<<3 | shapeBytes, s.words, true} }

// Bool adds a boolean with this value to the shape.
func (s Shape) Bool(v bool) Shape {
	code := uint64(shapeFalse)
	if v {
		code = shapeTrue
	}
	return Shape{s.bits<<3 | code, s.words, s.bytes}
}

// Record adds a whole record. It is equivalent to Begin, one call for each field, and End, but takes a quarter of the
// instructions, since everything stays in registers. Most records are added this way. Words beyond the shape must be 0.
func (t *Trace) Record(at sim.Time, kind uint16, shape Shape, a, b, c, d, e uint64) {
	l := t.now.with(uint64(kind)).with(uint64(at - t.last))
	var rest uint64
	switch shape.words {
	case 0:
		rest = a | b | c | d | e
	case 1:
		l, rest = l.with(a), b|c|d|e
	case 2:
		l, rest = l.with(a).with(b), c|d|e
	case 3:
		l, rest = l.with(a).with(b).with(c), d|e
	case 4:
		l, rest = l.with(a).with(b).with(c).with(d), e
	case maxWords:
		l = l.with(a).with(b).with(c).with(d).with(e)
	}
	l = l.with(shape.bits)
	if t.shape|rest != 0 {
		panic(fmt.Sprintf("sim: Trace.Record(%d, %d) with words beyond its shape %b, or inside record %d (%b)", at, kind, shape.bits, t.records, t.shape))
	}
	t.now, t.last = l, at
	if t.records++; t.keep != nil {
		t.hand()
	}
}

// RecordBytes is like Record, for a record of three numbers followed by bytes.
func (t *Trace) RecordBytes(at sim.Time, kind uint16, shape Shape, a, b, c uint64, content []byte) {
	if t.shape != 0 || !shape.bytes || shape.words != 3 {
		panic(fmt.Sprintf("sim: Trace.RecordBytes(%d, %d) of shape %b, or inside record %d (%b)", at, kind, shape.bits, t.records, t.shape))
	}
	t.now = t.now.with(uint64(kind)).with(uint64(at - t.last)).with(a).with(b).with(c)
	addContent(&t.now, content)
	t.now.add(shape.bits)
	t.last = at
	if t.records++; t.keep != nil {
		t.hand()
	}
}

// Begin starts a record with the given time and kind.
func (t *Trace) Begin(at sim.Time, kind uint16) {
	if t.shape != 0 {
		panic(fmt.Sprintf("sim: Trace.Begin(%d, %d) inside record %d", at, kind, t.records))
	}
	t.shape, t.before = 1, t.now
	t.now.add(uint64(kind))
	t.now.add(uint64(at - t.last))
	t.last = at
}

// Int adds a signed number to the open record.
func (t *Trace) Int(v int64) {
	t.field(shapeInt)
	t.now.add(uint64(v))
}

// Uint adds an unsigned number to the open record. This is a different field from an Int with the same value.
func (t *Trace) Uint(v uint64) {
	t.field(shapeUint)
	t.now.add(v)
}

// Bool adds a boolean to the open record.
func (t *Trace) Bool(v bool) {
	if v {
		t.field(shapeTrue)
	} else {
		t.field(shapeFalse)
	}
}

// Str adds a text to the open record.
func (t *Trace) Str(s string) {
	t.field(shapeStr)
	addContent(&t.now, s)
}

// Bytes adds bytes to the open record. It does not retain the slice. This is a different field from a Str with the same
// content.
func (t *Trace) Bytes(b []byte) {
	t.field(shapeBytes)
	addContent(&t.now, b)
}

// field adds a field's code to the shape. It is small enough to be inlined: a shape of 0 is as rare as a full one, so
// both share one branch.
func (t *Trace) field(code uint64) {
	if t.shape-1 >= shapeFull-1 {
		t.turnShape()
	}
	t.shape = t.shape<<3 | code
}

// turnShape writes a full shape and starts a new one.
func (t *Trace) turnShape() {
	if t.shape == 0 {
		t.notOpen()
	}
	t.now.add(t.shape)
	t.shape = 1 << 3
}

// addContent adds the words of a text or byte slice, and its length.
func addContent[T string | []byte](to *lanes, s T) {
	l := *to
	switch n := len(s); {
	case n > 8:
		for i := 0; i < n-8; i += 8 {
			l = l.with(word(s[i : i+8]))
		}
		l = l.with(word(s[n-8:]))
	case n == 8:
		l = l.with(word(s))
	case n > 0:
		var w uint64
		for i := range n {
			w |= uint64(s[i]) << (8 * i)
		}
		l = l.with(w)
	}
	*to = l.with(uint64(len(s)))
}

// word returns the first eight bytes of s as a little-endian number.
func word[T string | []byte](s T) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// End closes the open record.
func (t *Trace) End() {
	if t.shape == 0 {
		t.notOpen()
	}
	t.now.add(t.shape)
	t.shape = 0
	if t.records++; t.keep != nil {
		t.hand()
	}
}

// hand passes the finished record to the hook.
func (t *Trace) hand() { t.keep(t.records-1, sim.Mix(t.now.a^bits.RotateLeft64(t.now.b, 32))) }

// Records returns the number of records finished so far.
func (t *Trace) Records() uint64 { return t.records }

// Digest returns the digest of the records finished so far. It may be called at any time and does not affect the trace.
// To compare two runs record by record, use Keep, which is cheaper.
func (t *Trace) Digest() sim.Digest {
	end, ended := []byte(traceFormat), t.now
	if t.shape != 0 {
		ended = t.before
	}
	for _, word := range [...]uint64{ended.a, ended.b, t.records} {
		end = binary.LittleEndian.AppendUint64(end, word)
	}
	return sha256.Sum256(end)
}

// Keep sets a hook that is called by each End with the record's index and a short hash of all records so far.
// FirstDifference uses these to find the first record in which two runs differ. Do not use the short hash for anything
// else; only equal digests show that two traces are equal. Call Keep before the first record; nil removes the hook.
func (t *Trace) Keep(hook func(index, sum uint64)) { t.keep = hook }

func (t *Trace) notOpen() {
	panic(fmt.Sprintf("sim: Trace: a field or End outside a record, after %d records", t.records))
}
