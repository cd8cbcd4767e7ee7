package orch

// ActivityOption says where an activity may run.
type ActivityOption struct{ session, tag string }

// OnSession makes an activity part of a session: all activities of a session run on the worker that owns it, one owner at
// a time. An empty id is no session.
func OnSession(id string) ActivityOption { return ActivityOption{session: id} }

// WithTag makes an activity run only on workers whose tag filter takes the tag. An empty tag is none; an activity with a
// tag that no worker takes waits for ever.
func WithTag(tag string) ActivityOption { return ActivityOption{tag: tag} }

// activity schedules an activity; of two sessions or tags the last counts.
func (c *Context) activity(name, input string, options []ActivityOption) Token {
	a := Action{Kind: ActionActivity, Name: name, Input: input}
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
