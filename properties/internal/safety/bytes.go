package safety

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/show"
	"github.com/durosim/durosim/properties/internal/model"
)

// bytesEvery is the sampling rate: the checker decodes only one in bytesEvery stored messages and events, because
// decoding costs more than all other checks of them.
const bytesEvery = 160

// spoken judges the bytes that a call stores. A stored message or event must have the contents that the call gave it,
// in the documented form (docs/contract/runtime.md#r1 and #r2). spoken samples one in bytesEvery and decodes it as
// plain JSON, no matter which codec wrote it.
func (a *atomicChecker) spoken(o *observe.Observation) {
	if len(o.Bytes) == 0 || (uint64(o.Message)+o.EventID+o.Call)%bytesEvery != 0 {
		return
	}
	c := a.Run.Model.Call(o.Call)
	if c == nil || a.forgets(c) {
		return
	}
	seen := ""
	if o.Kind == observe.RowInserted {
		if o.Item == nil {
			return
		}
		tagged, err := a.plain.read(o.Bytes)
		item := a.plain.values[tagged].first
		if kind := string(o.Item.Kind()); err != nil || a.plain.values[tagged].kind != plainObject || a.plain.count(tagged) != 1 ||
			a.plain.values[item].kind != plainObject || a.plain.values[item].name != kind {
			seen = "no " + kind
		} else {
			seen = a.unsaid(reflect.ValueOf(o.Item), item, 0)
		}
	} else {
		e := saidEvent(c, o)
		if e == nil {
			return
		}
		read, err := a.plain.read(o.Bytes)
		if kind := a.plain.member(read, "type"); err != nil || kind == nil || kind.kind != plainText || kind.text != string(eventdata.KindOf(e.Data)) {
			seen = "no " + string(eventdata.KindOf(e.Data))
		} else {
			seen = a.unsaid(reflect.ValueOf(e).Elem(), read, 1)
		}
	}
	if seen != "" {
		a.Run.Safety("S06", c.Caller.Node, o.Instance, "%s by %s stores %s: %s", c.Kind, a.Run.Who(c.Caller), o.Bytes, seen)
	}
}

// forgets reports whether the caller's build leaves out fields when it writes.
func (a *atomicChecker) forgets(c *model.Call) bool {
	if c.Caller.Node == 0 {
		return false // clients and probes leave nothing out
	}
	inc := a.Run.Model.Incarnation(c.Caller)
	if inc == nil || inc.Build == nil {
		return true
	}
	_, forgetful := inc.Build.Codec.(engine.ForgetfulCodec)
	return forgetful
}

// saidEvent returns the event as it is in the ack, or nil if another call stored it.
func saidEvent(c *model.Call, o *observe.Observation) *engine.Event {
	if c.Request.Ack == nil {
		return nil
	}
	for i := range c.Request.Ack.HistoryDelta {
		if e := &c.Request.Ack.HistoryDelta[i]; e.EventID == o.EventID && e.Data != nil {
			return e
		}
	}
	return nil
}

// unsaid compares a struct with a JSON object. It describes the first field that is missing or has a different value,
// or the presence of fields beyond the struct and those already known; it returns "" if the two agree. Empty fields may be
// missing.
func (a *atomicChecker) unsaid(v reflect.Value, object, known int) string {
	seen, found := a.compare(v, object)
	if seen == "" && found+known < a.plain.count(object) {
		return "expected nothing beyond " + show.Value(v.Interface())
	}
	return seen
}

// compare returns the first difference, and how many of the object's keys are fields of the struct.
func (a *atomicChecker) compare(v reflect.Value, object int) (seen string, found int) {
	for i := range v.NumField() {
		f, name := v.Field(i), a.snake(v.Type().Field(i).Name)
		if f.Kind() == reflect.Interface { // an event's own fields are at the same level as the common ones
			own, more := a.compare(f.Elem(), object)
			if own != "" {
				return own, 0
			}
			found += more
			continue
		}
		got := a.plain.member(object, name)
		if !a.same(f, got) {
			return fmt.Sprintf("expected %s to be %s", name, show.Value(f.Interface())), 0
		}
		if got != nil {
			found++
		}
	}
	return "", found
}

// same reports whether a JSON value, nil if there is none, equals the value of a field.
func (a *atomicChecker) same(f reflect.Value, got *plainValue) bool {
	if got == nil || got.kind == plainNull {
		return f.IsZero() || f.Kind() == reflect.Slice && f.Len() == 0
	}
	switch f.Kind() {
	case reflect.Pointer:
		return !f.IsNil() && a.same(f.Elem(), got)
	case reflect.String:
		return got.kind == plainText && got.text == f.String()
	case reflect.Uint64, reflect.Uint32:
		return got.kind == plainNumber && got.text == strconv.FormatUint(f.Uint(), 10)
	case reflect.Int64, reflect.Int:
		return got.kind == plainNumber && got.text == strconv.FormatInt(f.Int(), 10)
	case reflect.Bool:
		return got.kind == plainBool && got.text == strconv.FormatBool(f.Bool())
	}
	// In a nested value, every text and number must occur somewhere.
	var said, read []string
	leaves(f, &said)
	a.plain.collect(got, &read)
	count := map[string]int{}
	for _, s := range read {
		count[s]++
	}
	for _, s := range said {
		if count[s]--; count[s] < 0 {
			return false
		}
	}
	return true
}

// leaves collects the non-empty texts and numbers in a value.
func leaves(v reflect.Value, into *[]string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			leaves(v.Elem(), into)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			leaves(v.Field(i), into)
		}
	case reflect.Slice:
		for i := range v.Len() {
			leaves(v.Index(i), into)
		}
	case reflect.String:
		if v.Len() > 0 {
			*into = append(*into, v.String())
		}
	case reflect.Uint64, reflect.Uint32:
		if v.Uint() > 0 {
			*into = append(*into, strconv.FormatUint(v.Uint(), 10))
		}
	}
}

// collect collects the names, texts and numbers of what a value contains, and of itself.
func (p *plainJSON) collect(v *plainValue, into *[]string) {
	if v.kind == plainText || v.kind == plainNumber {
		*into = append(*into, v.text)
	}
	for i := v.first; i != 0; i = p.values[i].next {
		if v.kind == plainObject {
			*into = append(*into, p.values[i].name)
		}
		p.collect(&p.values[i], into)
	}
}

// snake returns a field's JSON name: the name of ExecutionID is execution_id.
func (a *atomicChecker) snake(name string) string {
	if known, ok := a.names[name]; ok {
		return known
	}
	var out []byte
	for i := 0; i < len(name); i++ {
		lower := func(at int) bool { return at < len(name) && name[at] >= 'a' && name[at] <= 'z' }
		if i > 0 && !lower(i) && (lower(i-1) || lower(i+1)) {
			out = append(out, '_')
		}
		out = append(out, name[i])
	}
	a.names[name] = strings.ToLower(string(out))
	return a.names[name]
}
