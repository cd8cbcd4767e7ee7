package orch

import "github.com/durosim/durosim/internal/orchhost"

// ActivityOption restricts where an activity may run.
type ActivityOption struct{ session, tag string }

// OnSession makes an activity part of a session: all activities of a session run on the worker that owns it, one owner
// at a time. An empty id means no session.
func OnSession(id string) ActivityOption { return ActivityOption{session: id} }

// WithTag makes an activity run only on workers whose tag filter accepts the tag. An empty tag means none; an activity
// with a tag that no worker accepts waits forever.
func WithTag(tag string) ActivityOption { return ActivityOption{tag: tag} }

// activity schedules an activity; if several sessions or tags are given, the last one counts.
func (c *Context) activity(name, input string, options []ActivityOption) orchhost.Token {
	a := orchhost.Action{Kind: orchhost.ActionActivity, Name: name, Input: input}
	for _, o := range options {
		if o.session != "" {
			a.Session = o.session
		}
		if o.tag != "" {
			a.Tag = o.tag
		}
	}
	return c.host.Schedule(a)
}
