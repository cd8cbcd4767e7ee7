package memprovider

import (
	"context"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
)

// session holds everything that the store has for one session id: the sessions row and the groups of worker rows with
// that id. Invariant: the row exists or there is at least one group.
type session struct {
	no uint64
	id string
	// exists reports whether there is a row; the next three fields are its columns. An expired row keeps its owner.
	exists     bool
	owner      *owner
	untilMs    int64
	activityMs int64
	// groups holds the worker rows with this session id, one group per tag that any of them has had, in order of first
	// use.
	groups     []*group
	rows       int
	expirySlot int // position among the live sessions
}

// owner is a worker that claims sessions under its own name.
type owner struct {
	name    string
	classes []*class // indexed by the tag bucket's number
}

// class returns the class of the owner's groups with one tag.
func (o *owner) class(b *tagBucket) *class {
	for len(o.classes) <= b.no {
		o.classes = append(o.classes, nil)
	}
	if o.classes[b.no] == nil {
		o.classes[b.no] = &class{}
	}
	return o.classes[b.no]
}

// group returns the group of the session's rows with one tag.
func (x *session) group(b *tagBucket) *group {
	for _, g := range x.groups {
		if g.bucket == b {
			return g
		}
	}
	g := &group{bucket: b, session: x}
	x.groups = append(x.groups, g)
	return g
}

// live reports whether the session has an owner. At exactly untilMs it has expired.
func (x *session) live(now int64) bool { return x.exists && x.untilMs > now }

// sessionNamed returns the session with the given id, creating it if necessary.
func (s *Store) sessionNamed(id string) *session {
	if x, ok := s.sessionIDs[id]; ok {
		return x
	}
	s.lastSession++
	x := &session{no: s.lastSession, id: id}
	if s.sessionIDs == nil {
		s.sessionIDs = make(map[string]*session)
	}
	s.sessionIDs[id] = x
	s.sessions = append(s.sessions, x)
	return x
}

func (s *Store) ownerNamed(name string) *owner {
	if o, ok := s.owners[name]; ok {
		return o
	}
	if s.owners == nil {
		s.owners = make(map[string]*owner)
	}
	o := &owner{name: name}
	s.owners[name] = o
	return o
}

// forgetSession removes a session that has neither a row nor work.
func (s *Store) forgetSession(x *session) {
	if x.exists || x.rows > 0 {
		return
	}
	delete(s.sessionIDs, x.id)
	s.sessions = slices.DeleteFunc(s.sessions, func(have *session) bool { return have == x })
}

// taker returns the taker for a fetch with the given config. Without a config, it takes no activities with sessions.
func (s *Store) taker(config *engine.SessionFetchConfig) taker {
	if config == nil {
		return taker{sessions: s.rules.PlainFetchTakesSessions}
	}
	return taker{owner: s.owners[config.OwnerID], sessions: true}
}

// claim claims the session for the fetching owner, or refreshes the owner's claim. In both cases the session's lock
// expires after the config's timeout, even if it was due to expire later (F26).
func (s *Store) claim(r *row, config *engine.SessionFetchConfig) {
	if config == nil || r.sessionID == "" {
		return
	}
	r.holder = s.ownerNamed(config.OwnerID)
	c := s.rules.Claimed(Claim{Session: r.sessionID, Owner: config.OwnerID, UntilMs: s.now + milliseconds(config.LockTimeout)})
	if c.Session != "" {
		s.setSession(s.sessionNamed(c.Session), s.ownerNamed(c.Owner), c.UntilMs, s.now)
	}
}

// touchSession records that a worker used the session of an activity it holds, provided that the session is live and
// still belongs to that worker (F27).
func (s *Store) touchSession(r *row) {
	if r.sessionID == "" || !s.rules.WorkIsActivity {
		return
	}
	if x := s.sessionNamed(r.sessionID); x.live(s.now) && x.owner == r.holder {
		s.setSession(x, x.owner, x.untilMs, s.now)
	}
}

// RenewSessionLock implements engine.Provider. An owner that is listed twice counts once.
func (p *provider) RenewSessionLock(_ context.Context, owners []string, extendFor, idleTimeout time.Duration) (int, error) {
	s := p.store
	req := s.begin(observe.CallRenewSessionLock, p.caller)
	req.Owners, req.LockTimeout, req.IdleTimeout = owners, extendFor, idleTimeout
	s.started()
	n := 0
	for i, name := range owners {
		if o := s.owners[name]; o != nil && !slices.Contains(owners[:i], name) {
			n += s.renewSessions(o, milliseconds(extendFor), milliseconds(idleTimeout))
		}
	}
	return n, s.end(result{}, nil)
}

func (s *Store) renewSessions(o *owner, extendMs, idleMs int64) int {
	n := 0
	for _, x := range s.sessions {
		if x.exists && x.owner == o && s.rules.RenewsSession(x.untilMs > s.now, x.activityMs > s.now-idleMs) {
			s.setSession(x, o, s.now+extendMs, x.activityMs)
			n++
		}
	}
	return n
}

// CleanupOrphanedSessions implements engine.Provider. It ignores the idle timeout (D23): a session of any owner is
// deleted if its lock has expired and no activity belongs to it.
func (p *provider) CleanupOrphanedSessions(_ context.Context, idleTimeout time.Duration) (int, error) {
	s := p.store
	s.begin(observe.CallCleanupOrphanedSessions, p.caller).IdleTimeout = idleTimeout
	s.started()
	n := 0
	for _, x := range slices.Clone(s.sessions) {
		if x.exists && x.untilMs < s.now && s.rules.CleansSession(x.rows > 0) {
			s.removeSession(x)
			n++
		}
	}
	return n, s.end(result{}, nil)
}

// setSession writes the sessions row.
func (s *Store) setSession(x *session, o *owner, untilMs, activityMs int64) {
	if x.exists && x.owner == o && x.untilMs == untilMs && x.activityMs == activityMs {
		return
	}
	x.exists, x.owner, x.untilMs, x.activityMs = true, o, untilMs, activityMs
	s.placeSession(x)
	if b := s.observe(observe.SessionSet); b != nil {
		b.Name, b.Token, b.UntilMs, b.ActivityMs = x.id, o.name, untilMs, activityMs
		s.send()
	}
}

// removeSession removes the sessions row.
func (s *Store) removeSession(x *session) {
	x.exists, x.owner, x.untilMs, x.activityMs = false, nil, 0, 0
	s.placeSession(x)
	if b := s.observe(observe.SessionRemoved); b != nil {
		b.Name = x.id
		s.send()
	}
	s.forgetSession(x)
}

// placeSession updates the index positions of the session's groups and records when the session expires.
func (s *Store) placeSession(x *session) {
	s.workGeneration++
	if x.live(s.now) {
		s.expiring.put(&x.expirySlot, x.untilMs, x.no, x)
	} else {
		s.expiring.drop(&x.expirySlot)
	}
	for _, g := range x.groups {
		s.work.place(g, s.now, s.own)
	}
}
