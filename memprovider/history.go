package memprovider

import (
	"bytes"
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
)

// decodedHistory is the part of an execution's history that has been decoded with one codec. It always starts at the
// first event. If err is set, it ends before the first event that the codec cannot decode; otherwise it ends where the
// last reader stopped.
//
// Callers receive slices of events, so elements are never overwritten: the slice only grows, or is truncated together
// with its capacity.
type decodedHistory struct {
	events []engine.Event
	err    error // error of event number len(events)
	// rested is the number of decoded events that were released when the execution ended. The next read decodes them
	// again without emitting observations. Invariant: if rested is not 0, events is empty.
	rested int
}

// restFrom is the number of instances at which a store starts to release the decoded events of ended executions.
// Smaller stores do not need to.
const restFrom = 1024

// rest releases an ended execution's decoded events, because they are rarely read again.
func (ex *execution) rest() {
	for _, d := range ex.decoded {
		if d != nil && len(d.events) > 0 {
			d.rested, d.events = len(d.events), nil
		}
	}
}

// recall decodes again the events that rest released.
func (s *Store) recall(ex *execution, codec int) {
	d := s.arena.seenBy(ex, codec)
	for i := range d.rested {
		e, err := s.codecs[codec].DecodeEvent(ex.events[i].data)
		if err != nil {
			panic(fmt.Sprintf("memprovider: event %d of execution %d was decoded before, but now: %v", ex.events[i].id, ex.id, err))
		}
		d.events = append(d.events, e)
	}
	d.rested = 0
}

// forget drops the decoded events from event i on.
func (ex *execution) forget(i int) {
	for _, d := range ex.decoded {
		switch {
		case d == nil:
		case d.rested > 0 && i <= d.rested:
			d.rested, d.err = i, nil
		case d.rested == 0 && i <= len(d.events):
			d.events, d.err = d.events[:i:i], nil
		}
	}
}

// seenBy returns a codec's decoded history of the execution.
func (a *Arena) seenBy(ex *execution, codec int) *decodedHistory {
	for len(ex.decoded) <= codec {
		ex.decoded = a.seen.Append(ex.decoded, nil)
	}
	if ex.decoded[codec] == nil {
		ex.decoded[codec] = a.decoded.New()
	}
	return ex.decoded[codec]
}

// readsAsWritten reports whether data is certain to decode to the value that c encoded. Bytes that are not UTF-8 are
// decoded as U+FFFD, and a codec that lacks fields may have omitted some. Both apply even to the codec that wrote the
// data.
func readsAsWritten(c engine.Codec, data []byte) bool {
	_, forgets := c.(engine.ForgetfulCodec)
	return !forgets && !bytes.Contains(data, replacement)
}

var replacement = []byte("\uFFFD")

// remember adds the event appended last to the cache of the codec that wrote it.
func (a *Arena) remember(ex *execution, codec int, e engine.Event) {
	d := a.seenBy(ex, codec)
	if d.err == nil && len(d.events) == len(ex.events)-1 && ex.events[len(d.events)].id == e.EventID {
		if d.events == nil {
			d.events = a.histories.Make(usualEvents)
		}
		d.events = a.histories.Append(d.events, e)
	}
}

// usualEvents is the initial capacity of a history, in events.
const usualEvents = 8

// decode returns an execution's events, decoded by the given codec, in ascending order. It emits one observation for
// each event that it decodes now, and one for all events decoded earlier, which names the last of them. On error the
// slice is nil. If skip is set, decode omits events that cannot be decoded. The caller must not change the slice.
func (s *Store) decode(in *instance, ex *execution, codec int, skip bool) ([]engine.Event, error) {
	if ex == nil || len(ex.events) == 0 {
		return nil, nil
	}
	s.recall(ex, codec)
	d := s.arena.seenBy(ex, codec)
	known := len(d.events)
	failed := d.err != nil
	if s.options.Recheck {
		for i := range known {
			s.recheck(s.codecs[codec], ex.events[i].data, d.events[i])
		}
	}
	for i := known; i < len(ex.events) && d.err == nil; i++ {
		e, err := s.decodeEvent(ex, i, s.codecs[codec])
		if err != nil {
			d.err = err
			break
		}
		d.events = s.arena.histories.Append(d.events, e)
	}
	if s.options.Sink != nil {
		if known > 0 { // one observation for the cached events
			s.observeDecoded(in, ex, known-1, observe.OutcomeOK, true)
		}
		for i := known; i < len(d.events); i++ {
			s.observeDecoded(in, ex, i, observe.OutcomeOK, false)
		}
		if d.err != nil {
			s.observeDecoded(in, ex, len(d.events), observe.OutcomePermanent, failed)
		}
	}
	if d.err == nil {
		return d.events[:len(d.events):len(d.events)], nil
	}
	if skip {
		return s.decodeRest(in, ex, codec, d), nil
	}
	return nil, fmt.Errorf("event %d of %s, execution %d: %w", ex.events[len(d.events)].id, in.name, ex.id, d.err)
}

// decodeEvent returns an event as decoded by the codec. It reuses another codec's result if that is known to be the
// same.
func (s *Store) decodeEvent(ex *execution, i int, c engine.Codec) (engine.Event, error) {
	for from, d := range ex.decoded {
		if d != nil && i < len(d.events) && rereads(c, s.codecs[from], d.events[i]) {
			s.recheck(c, ex.events[i].data, d.events[i])
			return d.events[i], nil
		}
	}
	return c.DecodeEvent(ex.events[i].data)
}

// rereads reports whether c is known to decode an event to e, as from did. Both may be the same codec.
func rereads(c, from engine.Codec, e engine.Event) bool {
	if c.Name() == from.Name() {
		return true
	}
	r, ok := c.(engine.Rereader)
	return ok && r.RereadsEvent(from, e)
}

// decodeRest decodes the events that follow one that cannot be decoded.
func (s *Store) decodeRest(in *instance, ex *execution, codec int, d *decodedHistory) []engine.Event {
	events := append([]engine.Event(nil), d.events...)
	for i := len(d.events) + 1; i < len(ex.events); i++ {
		e, err := s.codecs[codec].DecodeEvent(ex.events[i].data)
		if err != nil {
			s.observeDecoded(in, ex, i, observe.OutcomePermanent, false)
			continue
		}
		s.observeDecoded(in, ex, i, observe.OutcomeOK, false)
		events = append(events, e)
	}
	return events
}

func (s *Store) observeDecoded(in *instance, ex *execution, i int, outcome observe.Outcome, cached bool) {
	if o := s.observeExecution(observe.EventDecoded, in, ex.id); o != nil {
		o.EventID, o.Outcome, o.Cached = ex.events[i].id, outcome, cached
		s.send()
	}
}

// decodeItem returns a message as decoded by the codec and emits an observation of the decoding.
func (s *Store) decodeItem(r *row, codec int) (engine.WorkItem, error) {
	d, cached := s.decodedBy(r, codec)
	if o := s.observeRow(observe.MessageDecoded, r); o != nil {
		o.Outcome, o.Cached = observe.OutcomeOK, cached
		if d.err != nil {
			o.Outcome = observe.OutcomePermanent
		}
		s.send()
	}
	if d.err != nil {
		return nil, fmt.Errorf("message %d of %s: %w", r.no, r.in.name, d.err)
	}
	return d.item, nil
}
