package faults

import "github.com/durosim/durosim/internal/bugs"

// BugID names a planted bug: family, slash, name.
type BugID = bugs.ID
