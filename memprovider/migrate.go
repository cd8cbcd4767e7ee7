package memprovider

// A store has a schema: a version, and the oldest schema with which programs can still work with it. The contract of a
// provider says nothing of that; these methods are what the code of a provider does when a program starts. Their rules are
// those of the program's code, or the store's own if nil.

// schema is the schema of a store.
type schema struct {
	version, oldest uint64
	migrations      int    // that take place
	activated       string // the build that nodes may run since, or ""
}

// Schema returns the version of the store's schema.
func (s *Store) Schema() uint64 { return s.schema.version }

// Opens reports whether a program of that schema works with the store, if need be after a migration. refusesNewer means that
// it does not start on a newer schema, even if that leaves what it needs.
func (s *Store) Opens(r *Rules, version uint64, refusesNewer bool) bool {
	newer := version < s.schema.version && refusesNewer || version < s.schema.oldest
	return (!newer || !s.rulesOr(r).ChecksSchema) && (version <= s.schema.version || s.rulesOr(r).TakesOlder)
}

// Activate makes a build active, unless some node is not ready for it, and reports whether it did. restart says that no
// operator has asked for that, but a node that starts anew.
func (s *Store) Activate(r *Rules, build string, ready, restart bool) bool {
	r = s.rulesOr(r)
	if restart && !r.RestartActivates || !restart && !ready && r.ActivatesWhenReady {
		return false
	}
	s.schema.activated = build
	return true
}

// Activated returns the build that has been activated, or "".
func (s *Store) Activated(r *Rules) string {
	if !s.rulesOr(r).KeepsActivation {
		return ""
	}
	return s.schema.activated
}

// BeginMigration reports whether a program may migrate the store now. If so, EndMigration must follow.
func (s *Store) BeginMigration(r *Rules) bool {
	if s.schema.migrations > 0 && s.rulesOr(r).MigratesAlone {
		return false
	}
	s.schema.migrations++
	return true
}

// EndMigration ends a migration. Unless it has failed, the schema has the version then, and if it is destructive, programs of
// older schemas cannot work with the store. A migration keeps every row.
func (s *Store) EndMigration(r *Rules, version uint64, destructive, failed bool) {
	s.schema.migrations--
	r = s.rulesOr(r)
	if failed && r.UndoesHalf {
		return
	}
	s.schema.version = version
	if destructive {
		s.schema.oldest = version
	}
	for _, in := range s.instances {
		if r.MigrationFreesLocks {
			s.releaseLock(in)
		}
		for _, ex := range in.executions {
			s.setPin(in, ex, s.intern(r.MigratedPin(ex.pin)))
		}
	}
	for _, m := range s.rows {
		if m != nil {
			s.setCount(m, r.MigratedCount(m.count))
		}
	}
	s.settle()
}

// SetSchema gives the schema a version, as the first program does, or a tool that undoes migrations.
func (s *Store) SetSchema(version uint64) {
	s.schema.version, s.schema.oldest = version, min(s.schema.oldest, version)
}

func (s *Store) rulesOr(r *Rules) *Rules {
	if r == nil {
		return s.own
	}
	return r
}
