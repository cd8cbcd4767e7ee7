package cluster

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
)

// decoded returns an answer as a caller with the given codec gets it. A real provider decodes in the node's process,
// with the code of the node's build.
func (f *foreign) decoded(a call.Answer, method string, codec engine.Codec) call.Answer {
	if a.Err != nil {
		return a
	}
	if a.Orchestration != nil {
		a.Orchestration = f.decodedTurn(*a.Orchestration, codec)
	}
	if len(a.Events) > 0 {
		events, err := f.decodedEvents(a.Events, codec)
		if err != nil {
			return call.Answer{Err: engine.Permanentf(method, "%w", err)}
		}
		a.Events = events
	}
	return a
}

// decodedTurn returns the item as decoded by the codec, with a history error if the codec cannot decode a message or an
// event.
func (f *foreign) decodedTurn(t engine.FetchedOrchestration, codec engine.Codec) *engine.FetchedOrchestration {
	messages := make([]engine.WorkItem, 0, len(t.Item.Messages))
	for _, m := range t.Item.Messages {
		item, err := f.reread(m, codec)
		if err != nil {
			t.Item.HistoryError = err.Error()
			continue
		}
		messages = append(messages, item)
	}
	history, err := f.decodedEvents(t.Item.History, codec)
	if err != nil {
		t.Item.HistoryError = err.Error()
	}
	t.Item.Messages, t.Item.History = messages, history
	if t.Item.HistoryError != "" {
		t.Item.History = nil
	}
	return &t
}

func (f *foreign) decodedEvents(events []engine.Event, codec engine.Codec) ([]engine.Event, error) {
	var list []engine.Event
	for _, e := range events {
		data, err := f.written(e)
		if err == nil {
			e, err = codec.DecodeEvent(data)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// written returns an event as encoded by the first build that writes its kind.
func (f *foreign) written(e engine.Event) (data []byte, err error) {
	for _, b := range f.builds {
		if data, err = engine.Opaque(b.Codec).AppendEvent(nil, e); err == nil {
			break
		}
	}
	return data, err
}

// reread returns a message as decoded by the codec.
func (f *foreign) reread(m engine.WorkItem, codec engine.Codec) (item engine.WorkItem, err error) {
	var data []byte
	for _, b := range f.builds {
		if data, err = engine.Opaque(b.Codec).AppendWorkItem(nil, m); err == nil {
			return codec.DecodeWorkItem(data)
		}
	}
	return nil, err
}
