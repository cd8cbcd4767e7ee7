package orch

import "github.com/durosim/durosim/engine/orchhost"

// ActivityOption restricts where an activity may run.
type ActivityOption struct{ session, tag string }

// OnSession adds an activity to a session. All activities of a session run on the worker that owns it, and only one
// worker owns it at a time. An empty id means no session.
func OnSession(id string) ActivityOption { return ActivityOption{session: id} }

// WithTag restricts an activity to workers whose tag filter accepts the tag. An empty tag means no tag. If no worker
// accepts the tag, the activity waits forever.
func WithTag(tag string) ActivityOption { return ActivityOption{tag: tag} }

// activity schedules an activity and returns its future's token. If the future has a place in shared memory, it
// returns that, too. If several sessions or tags are given, the last one wins.
func (c *Context) activity(name, input string, options []ActivityOption) (orchhost.Token, *Future) {
	session, tag := "", ""
	for _, o := range options {
		if o.session != "" {
			session = o.session
		}
		if o.tag != "" {
			tag = o.tag
		}
	}
	token := c.host.ScheduleActivity(name, input, session, tag)
	return token, c.future(token)
}
