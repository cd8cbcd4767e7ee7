package oracle

import (
	"encoding/json"
	"fmt"
	"math"
)

// Span holds the earliest and the latest instant at which a call may have taken effect, in milliseconds of store time.
// With virtual time, the two are equal.
type Span struct{ Lo, Hi int64 }

// At returns a span that consists of a single instant.
func At(ms int64) Span { return Span{ms, ms} }

// Between returns the span from begin to end.
func Between(begin, end int64) Span { return Span{begin, end} }

// String returns the instant, or both ends if they differ.
func (s Span) String() string {
	if s.Lo == s.Hi {
		return fmt.Sprint(s.Lo)
	}
	return fmt.Sprintf("%d..%d", s.Lo, s.Hi)
}

// MarshalJSON encodes a single instant as a number, and any other span as an array of its two ends.
func (s Span) MarshalJSON() ([]byte, error) {
	if s.Lo == s.Hi {
		return json.Marshal(s.Lo)
	}
	return json.Marshal([]int64{s.Lo, s.Hi})
}

// UnmarshalJSON decodes what MarshalJSON encodes.
func (s *Span) UnmarshalJSON(data []byte) error {
	var at int64
	if json.Unmarshal(data, &at) == nil {
		*s = At(at)
		return nil
	}
	var ends []int64
	if json.Unmarshal(data, &ends) != nil || len(ends) != 2 || ends[0] > ends[1] {
		return fmt.Errorf("want milliseconds, or the earliest and the latest, got %s", data)
	}
	*s = Between(ends[0], ends[1])
	return nil
}

// plus adds ms to both ends. ms must not be negative; the sum saturates.
func (s Span) plus(ms int64) Span { return Span{saturate(s.Lo, ms), saturate(s.Hi, ms)} }

func saturate(at, ms int64) int64 {
	if ms > 0 && at > math.MaxInt64-ms {
		return math.MaxInt64
	}
	return at + max(ms, 0)
}

// over returns the smallest span that covers both spans.
func (s Span) over(t Span) Span { return Span{min(s.Lo, t.Lo), max(s.Hi, t.Hi)} }

// truth answers a question about spans. It says whether a statement may hold, and whether it must hold.
type truth struct{ may, must bool }

func (t truth) not() truth { return truth{!t.must, !t.may} }

func (t truth) and(u truth) truth { return truth{t.may && u.may, t.must && u.must} }

func known(b bool) truth { return truth{b, b} }

// reached reports whether time s has been reached at time now, that is, whether s <= now.
func (s Span) reached(now Span) truth { return truth{s.Lo <= now.Hi, s.Hi <= now.Lo} }

func (s Span) after(t Span) truth { return t.before(s) }

func (s Span) before(t Span) truth { return truth{s.Lo < t.Hi, s.Hi < t.Lo} }
