package model

import (
	"bytes"
	"encoding/json"
	"math/bits"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// KindNo is a dense number that a run's KindTable assigns to an event kind. Two numbers are reserved.
type KindNo uint8

const (
	KindDamaged KindNo = 62 // bytes that a fault has changed, so that it is unknown which builds can read them
	KindForeign KindNo = 63 // a kind that no build in the run knows, or bytes without a kind
)

// KindSet is a bit set of event kinds.
type KindSet uint64

func MaskOf(k KindNo) KindSet { return 1 << k }

func (s KindSet) Has(k KindNo) bool { return s&MaskOf(k) != 0 }

// KindTable numbers the kinds that the builds in a run know.
type KindTable struct {
	names   []engine.EventKind
	numbers map[engine.EventKind]KindNo
	// byLength holds the kinds' numbers, grouped by the length of the kind's name. It serves to find kinds in stored
	// bytes.
	byLength [64][]KindNo
	Started  KindNo
	// Keys contains the kinds that change the key-value state.
	Keys KindSet
	// Terminal contains the kinds that end an execution.
	Terminal KindSet
	builds   []*engine.Build
	Reads    []KindSet // indexed like builds
}

func newKindTable(builds []*engine.Build) KindTable {
	t := KindTable{numbers: make(map[engine.EventKind]KindNo), names: []engine.EventKind{""}, builds: builds}
	for _, k := range engine.Kinds2x().List() {
		t.Add(k)
	}
	for _, b := range builds {
		t.Reads = append(t.Reads, t.SetOf(b.Codec.Kinds().List()...))
	}
	t.Started = t.Add(eventdata.KindOrchestrationStarted)
	t.Keys = t.SetOf(eventdata.KindKeyValueSet, eventdata.KindKeyValueCleared, eventdata.KindKeyValuesCleared)
	t.Terminal = t.SetOf(eventdata.KindOrchestrationCompleted, eventdata.KindOrchestrationFailed, eventdata.KindOrchestrationContinuedAsNew)
	return t
}

// Add returns a kind's number, adding the kind if it is new. There is room for 61 kinds; any further kind gets
// KindForeign.
func (t *KindTable) Add(k engine.EventKind) KindNo {
	if no, ok := t.numbers[k]; ok {
		return no
	}
	no := KindNo(len(t.names))
	if no >= KindDamaged {
		return KindForeign
	}
	t.names = append(t.names, k)
	t.numbers[k] = no
	if len(k) < len(t.byLength) {
		t.byLength[len(k)] = append(t.byLength[len(k)], no)
	}
	return no
}

// find returns the number for a name. It makes no string of a name in stored bytes.
func find[T ~string | ~[]byte](t *KindTable, name T) (KindNo, bool) {
	if len(name) < len(t.byLength) {
		for _, no := range t.byLength[len(name)] {
			if string(t.names[no]) == string(name) {
				return no, true
			}
		}
		return 0, false
	}
	no, ok := t.numbers[engine.EventKind(name)]
	return no, ok
}

// SetOf returns the set of kinds, adding those that are new.
func (t *KindTable) SetOf(kinds ...engine.EventKind) (s KindSet) {
	for _, k := range kinds {
		s |= MaskOf(t.Add(k))
	}
	return s
}

// Number returns a kind's number if the table has the kind.
func (t *KindTable) Number(k engine.EventKind) (KindNo, bool) { return find(t, k) }

// Name returns a kind's name for use in messages.
func (t *KindTable) Name(k KindNo) string {
	switch {
	case k == KindDamaged:
		return "damaged event"
	case int(k) >= len(t.names):
		return "event of unknown kind"
	}
	return string(t.names[k])
}

// First returns the name of a set's first kind.
func (t *KindTable) First(s KindSet) string { return t.Name(KindNo(bits.TrailingZeros64(uint64(s)))) }

// ReadBy returns the kinds that a build can read.
func (t *KindTable) ReadBy(b *engine.Build) KindSet {
	if i := slices.Index(t.builds, b); i >= 0 {
		return t.Reads[i]
	}
	return t.SetOf(b.Codec.Kinds().List()...)
}

// typeKey precedes an event's kind.
const typeKey = `"type":"`

// findTypeKey returns the first position of typeKey, or -1 if there is none. It looks for the y, which is rare elsewhere
// in an envelope, while a search for a quote would stop everywhere.
func findTypeKey(data []byte) int {
	const before = 2 // what typeKey has before the y
	for from := before; from < len(data); from++ {
		i := bytes.IndexByte(data[from:], 'y')
		if i < 0 {
			return -1
		}
		from += i
		if at := from - before; len(data)-at >= len(typeKey) && string(data[at:at+len(typeKey)]) == typeKey {
			return at
		}
	}
	return -1
}

// of returns the kind of an encoded event. In the contract's JSON, the envelope has no nested objects before the kind,
// so the first typeKey is the right one. Other JSON is parsed as JSON. A build's own codec is used only for bytes that
// are not JSON, because whether a build should read an event must not depend on whether it does.
func (t *KindTable) of(data []byte) KindNo {
	if i := findTypeKey(data); i >= 0 {
		name := data[i+len(typeKey):]
		if j := bytes.IndexByte(name, '"'); j >= 0 {
			if no, ok := find(t, name[:j]); ok {
				return no
			}
			return KindForeign
		}
	}
	var written struct {
		Type *engine.EventKind `json:"type"`
	}
	if err := json.Unmarshal(data, &written); err == nil && written.Type != nil {
		if no, ok := find(t, *written.Type); ok {
			return no
		}
		return KindForeign
	}
	for i := len(t.builds) - 1; i >= 0; i-- {
		if e, err := t.builds[i].Codec.DecodeEvent(data); err == nil {
			return t.Add(e.Kind())
		}
	}
	return KindForeign
}

// itemKindOf returns the kind of an encoded work item, which is the tag around the item's fields. It returns "" if
// there is no tag.
func itemKindOf(data []byte) engine.WorkItemKind {
	i := bytes.IndexByte(data, '"')
	if i < 0 {
		return ""
	}
	j := bytes.IndexByte(data[i+1:], '"')
	if j < 0 {
		return ""
	}
	return engine.WorkItemKind(data[i+1 : i+1+j])
}
