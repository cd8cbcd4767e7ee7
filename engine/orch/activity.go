package orch

// ActivityOption says where an activity may run.
type ActivityOption struct{ session, tag string }

// OnSession makes an activity part of a session: all activities of a session run on the worker that owns it, one owner at
// a time. An empty id is no session.
func OnSession(id string) ActivityOption { return ActivityOption{session: id} }

// WithTag makes an activity run only on workers whose tag filter takes the tag. An empty tag is none; an activity with a
// tag that no worker takes waits for ever.
func WithTag(tag string) ActivityOption { return ActivityOption{tag: tag} }

func (o ActivityOption) apply(a *Action) {
	if o.session != "" {
		a.Session = o.session
	}
	if o.tag != "" {
		a.Tag = o.tag
	}
}
