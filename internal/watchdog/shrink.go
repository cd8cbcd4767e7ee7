package watchdog

import (
	"fmt"
	"time"
)

// EnvShrink is the environment variable with the limit on the search for the smallest plan.
const EnvShrink = "DUROSIM_SHRINK"

// Search is the real time that the search for the smallest plan may take. It decides how small the plan is, and nothing
// else.
type Search struct {
	Limit       time.Duration
	began, told time.Time
}

// NewSearch returns a search with the limit that the environment sets, or of 30 seconds. 0 means that there is none. The
// limit leaves a tenth of what is left until the deadline, if test is a *testing.T that has one.
func NewSearch(test any) (*Search, error) {
	limit, err := limitOf(EnvShrink, 30*time.Second)
	if t, ok := test.(interface{ Deadline() (time.Time, bool) }); ok {
		if deadline, ok := t.Deadline(); ok {
			if left := time.Until(deadline) * 9 / 10; limit == 0 || left < limit {
				limit = max(left.Round(time.Second), 1)
			}
		}
	}
	return &Search{Limit: limit}, err
}

// Over reports whether the limit has been reached. The first call starts the clock. Every five seconds, or more often if
// the limit is short, Over calls tell.
func (s *Search) Over(tell func(spent time.Duration)) bool {
	now := time.Now()
	if s.began.IsZero() {
		s.began, s.told = now, now
	}
	if now.Sub(s.told) >= 5*time.Second || s.Limit > 0 && now.Sub(s.told) >= s.Limit {
		s.told = now
		tell(now.Sub(s.began).Round(time.Second))
	}
	return s.Limit > 0 && now.Sub(s.began) >= s.Limit
}

// Met says that the limit has been reached, and how to get more time.
func (s *Search) Met() string {
	return fmt.Sprintf("the limit of %s of real time was reached, and %s=5m gives it more", s.Limit, EnvShrink)
}
