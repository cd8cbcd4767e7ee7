// Package wording reads and writes events and messages as words, as stories of tests have them. Only tests import it.
//
//	h ActivityScheduled Name=a Input=b
//	b ActivityCompleted ExecutionID=1 ID=2 Result=r
//	d OrchestrationFailed Details=cancelled:why
//
// Where a story has room for a single word only, the same is written as `ActivityScheduled,Name:a,Input:b`.
package wording

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// Event returns the event that the words describe, under the given id. The words may start with `of=N`, which is the
// event's source, and `by=VERSION`, which is the version of the build that wrote it. The others are `FIELD=VALUE`, for
// fields of the event's data. kind is the name of the data's type.
// The kinds failed, cancelled, panicked, disagrees and broken are failures of the execution, and the words are then the
// failure's text. This also applies to ActivityFailed and SubOrchestrationFailed if the words contain no `=`. Every
// event has the time 1000 ms.
func Event(t testing.TB, id int, kind string, words []string) engine.Event {
	t.Helper()
	e := engine.Event{EventID: uint64(id), TimestampMs: 1000}
	for ; len(words) > 0; words = words[1:] {
		if source, ok := strings.CutPrefix(words[0], "of="); ok {
			e.SourceEventID = number(t, source)
		} else if version, ok := strings.CutPrefix(words[0], "by="); ok {
			e.DuroxideVersion = version
		} else {
			break
		}
	}
	if text := strings.Join(words, " "); details(kind, text) != (engine.ErrorDetails{}) {
		e.Data = eventdata.OrchestrationFailed{Details: details(kind, text)}
		return e
	} else if !strings.Contains(text, "=") && kind == "ActivityFailed" {
		e.Data = eventdata.ActivityFailed{Details: details("activity", text)}
		return e
	} else if !strings.Contains(text, "=") && kind == "SubOrchestrationFailed" {
		e.Data = eventdata.SubOrchestrationFailed{Details: details("failed", text)}
		return e
	}
	e.Data = made(t, eventdata.Forms(), kind, words).(engine.EventData)
	return e
}

// Item returns the message that the words describe. kind is the name of its type without Item, and the words are
// `FIELD=VALUE`.
func Item(t testing.TB, kind string, words []string) engine.WorkItem {
	t.Helper()
	return made(t, engine.ItemForms(), kind+"Item", words).(engine.WorkItem)
}

// EventOf is like Event, for a description in a single word, such as `ActivityScheduled,Name:a,Input:b`. The words in
// front are added to those in the description.
func EventOf(t testing.TB, id int, word string, front ...string) engine.Event {
	t.Helper()
	kind, words := split(word)
	return Event(t, id, kind, append(front, words...))
}

// ItemOf is like Item, for a description in a single word, such as `Start,Instance:x,Version:1.0.0`. The words in front
// are added to those in the description.
func ItemOf(t testing.TB, word string, front ...string) engine.WorkItem {
	t.Helper()
	kind, words := split(word)
	return Item(t, kind, append(front, words...))
}

// split returns the kind and the words of a description in a single word, with FIELD=VALUE for each FIELD:VALUE.
func split(word string) (kind string, words []string) {
	parts := strings.Split(word, ",")
	for _, part := range parts[1:] {
		words = append(words, strings.Replace(part, ":", "=", 1))
	}
	return parts[0], words
}

// made returns the struct of a form whose type has that name.
func made(t testing.TB, forms []*eventdata.Form, name string, words []string) any {
	t.Helper()
	i := slices.IndexFunc(forms, func(f *eventdata.Form) bool { return f.Type().Name() == name })
	if i < 0 {
		t.Fatalf("nothing is called %q", name)
	}
	v := reflect.New(forms[i].Type())
	Set(t, v.Interface(), words)
	return v.Elem().Interface()
}

// details returns an error of the given kind with a text. For an unknown kind, the error is empty.
func details(kind, text string) engine.ErrorDetails {
	of := map[string]eventdata.ApplicationKind{
		"failed": eventdata.AppOrchestrationFailed, "cancelled": eventdata.AppCancelled, "panicked": eventdata.AppPanicked, "activity": eventdata.AppActivityFailed,
	}
	application := eventdata.ApplicationError{Kind: of[kind], Message: text}
	switch kind {
	case "failed", "panicked", "activity":
		return engine.ErrorDetails{Application: &application}
	case "cancelled":
		application.Message, application.Reason = "", text
		return engine.ErrorDetails{Application: &application}
	case "disagrees":
		return eventdata.Nondeterminism(text)
	case "unexplained":
		return engine.ErrorDetails{Configuration: &eventdata.ConfigurationError{Kind: eventdata.KindNondeterminism, Resource: text}}
	case "broken":
		operation, message, ok := strings.Cut(text, "/")
		if !ok {
			operation, message = "op", text
		}
		return engine.ErrorDetails{Infrastructure: &eventdata.InfrastructureError{Operation: operation, Message: message}}
	case "poison": // KIND/INSTANCE/ATTEMPT/MOST/CAUSE/ERROR/ACTIVITY
		f := strings.Split(text+"//////", "/")
		attempt, _ := strconv.ParseUint(f[2], 10, 32)
		most, _ := strconv.ParseUint(f[3], 10, 32)
		return engine.ErrorDetails{Poison: &eventdata.PoisonError{AttemptCount: uint32(attempt), MaxAttempts: uint32(most), MessageType: eventdata.PoisonType{
			Kind: eventdata.PoisonKind(f[0]), Instance: f[1], ExecutionID: 1, Cause: f[4], Error: f[5], ActivityName: f[6], ActivityID: attempt,
		}}}
	}
	return engine.ErrorDetails{}
}

func number(t testing.TB, text string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Set sets fields of the struct that of points at. Each word is `FIELD=VALUE`, and VALUE may contain Go escapes.
// Durations, versions and errors (`KIND:TEXT`) have their own forms; carried messages are written as `NAME:DATA,...` or, in a
// single word, `NAME:DATA;...`.
func Set(t testing.TB, of any, words []string) {
	t.Helper()
	for _, w := range words {
		name, text, _ := strings.Cut(w, "=")
		if unquoted, err := strconv.Unquote(`"` + text + `"`); err == nil {
			text = unquoted
		}
		f := reflect.ValueOf(of).Elem().FieldByName(name)
		if !f.IsValid() {
			t.Fatalf("%T has no field %s", of, name)
		}
		set(t, f, text)
	}
}

func set(t testing.TB, f reflect.Value, text string) {
	t.Helper()
	switch f.Interface().(type) {
	case *engine.Version:
		v := engine.MustParseVersion(text)
		f.Set(reflect.ValueOf(&v))
		return
	case engine.ErrorDetails:
		kind, text, _ := strings.Cut(text, ":")
		f.Set(reflect.ValueOf(details(kind, text)))
		return
	case []engine.CarriedEvent:
		var list []engine.CarriedEvent
		for part := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == ',' || c == ';' }) {
			name, data, _ := strings.Cut(part, ":")
			list = append(list, engine.CarriedEvent{Name: name, Data: data})
		}
		f.Set(reflect.ValueOf(list))
		return
	case time.Duration:
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		f.SetInt(int64(d))
		return
	}
	switch {
	case f.Kind() == reflect.Pointer:
		f.Set(reflect.ValueOf(&text))
	case f.Kind() == reflect.Bool:
		f.SetBool(text == "true")
	case f.CanInt():
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		f.SetInt(n)
	case f.CanUint():
		f.SetUint(number(t, text))
	default:
		f.SetString(text)
	}
}

// Text writes the data of an event, or a message, as words: what [Event] and [Item] read, without the fields that are zero.
// Errors are written as they display. A text that is not a word is quoted, and of a long one only the length is told.
func Text(of any) string {
	v := reflect.ValueOf(of)
	if !v.IsValid() {
		return "nothing"
	}
	text := strings.TrimSuffix(v.Type().Name(), "Item")
	for i := range v.NumField() {
		if f := v.Field(i); !f.IsZero() {
			text += " " + v.Type().Field(i).Name + "=" + word(f)
		}
	}
	return text
}

// EventText is Text of an event's data, with its source and the build that wrote it.
func EventText(e engine.Event) string {
	kind, fields, _ := strings.Cut(Text(e.Data), " ")
	if e.SourceEventID != 0 {
		kind += fmt.Sprintf(" of=%d", e.SourceEventID)
	}
	if e.DuroxideVersion != "" {
		kind += " by=" + e.DuroxideVersion
	}
	return strings.TrimSpace(kind + " " + fields)
}

func word(f reflect.Value) string {
	text := fmt.Sprint(reflect.Indirect(f))
	switch v := f.Interface().(type) {
	case engine.ErrorDetails:
		text = v.Display()
	case []engine.CarriedEvent:
		var list []string
		for _, e := range v {
			list = append(list, e.Name+":"+e.Data)
		}
		text = strings.Join(list, ",")
	}
	if quoted := strconv.Quote(text); len(text) > 250 {
		return fmt.Sprintf("(%d bytes)", len(text))
	} else if text == "" || strings.Contains(text, " ") || quoted != `"`+text+`"` {
		return quoted
	}
	return text
}
