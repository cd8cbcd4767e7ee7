package replay

import (
	"slices"
	"unicode/utf8"

	"github.com/durosim/durosim/engine/orchhost"
)

// This file has the queue of what the code has asked for.

type action struct {
	orchhost.Action
	token orchhost.Token
}

func (t *turn) emitted() bool { return t.claimed < len(t.actions) }

// nextAction removes and returns the oldest action in the queue. The action is valid until the code resumes.
func (t *turn) nextAction() *action {
	a := &t.actions[t.claimed]
	if t.in.places {
		t.place, t.places = t.places[0], t.places[1:]
	}
	if t.claimed++; t.claimed == len(t.actions) {
		t.actions, t.claimed = t.actions[:0], 0
	}
	return a
}

// countEmission enforces the limit on scheduled operations. Code that keeps recovering the panic eventually hits the
// limit on calls.
func (t *turn) countEmission() {
	if t.emissions++; t.emissions > maxActions {
		panic(tooManyText)
	}
}

func (t *turn) emit(a *orchhost.Action, token orchhost.Token) {
	to := t.newAction()
	to.Action, to.token = *a, token
}

// newAction appends an action for the caller to write.
func (t *turn) newAction() *action {
	t.countEmission()
	if t.in.places {
		t.places = append(t.places, placeOf(true))
	}
	n := len(t.actions)
	if n == cap(t.actions) {
		t.actions = slices.Grow(t.actions, 1)
	}
	t.actions = t.actions[:n+1]
	return &t.actions[n]
}

// makeStorable converts the action's strings to the form in which a history returns them: each invalid UTF-8 byte
// becomes U+FFFD. Otherwise, replay would compare the stored text with the original.
func makeStorable(a *orchhost.Action) {
	for _, text := range [...]*string{&a.Name, &a.Input, &a.Instance, &a.Version, &a.Topic, &a.Session, &a.Tag} {
		if *text != "" && !utf8.ValidString(*text) {
			*text = string([]rune(*text))
		}
	}
}
