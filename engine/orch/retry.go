package orch

import (
	"errors"
	"time"
)

// RetryPolicy sets how often and after which delays a failed activity is retried.
type RetryPolicy struct {
	// MaxAttempts is the maximum number of attempts, at least 1.
	MaxAttempts int
	// Timeout limits each attempt; 0 means no limit. An attempt that times out is not retried.
	Timeout time.Duration
	// Backoff returns the pause before each retry; nil means no pause.
	Backoff Backoff
}

// Backoff returns the pause after the n-th failed attempt, counting from 1. Zero or less means no pause.
type Backoff func(n int) time.Duration

// DefaultRetryPolicy returns a policy of 3 attempts. Pauses start at 100 ms and double, up to 30 s.
func DefaultRetryPolicy() RetryPolicy {
	return RetryPolicy{MaxAttempts: 3, Backoff: ExponentialBackoff(100*time.Millisecond, 2, 30*time.Second)}
}

// FixedBackoff returns a backoff that always pauses for d.
func FixedBackoff(d time.Duration) Backoff { return func(int) time.Duration { return d } }

// LinearBackoff returns a backoff that pauses for base, then twice base, three times base and so on, up to most.
func LinearBackoff(base, most time.Duration) Backoff {
	return func(n int) time.Duration {
		if base > 0 && time.Duration(n) > most/base {
			return most
		}
		return min(base*time.Duration(n), most)
	}
}

// ExponentialBackoff returns a backoff that starts at base and multiplies the pause by factor each time, up to most.
func ExponentialBackoff(base time.Duration, factor int, most time.Duration) Backoff {
	return func(n int) time.Duration {
		d := base
		for ; n > 1 && factor > 1 && d > 0 && d < most; n-- {
			if d > most/time.Duration(factor) {
				return most
			}
			d *= time.Duration(factor)
		}
		return min(d, most)
	}
}

// ErrActivityTimeout is the error of an activity that exceeded the Timeout of its RetryPolicy.
var ErrActivityTimeout = errors.New("timeout: activity timed out")

// ScheduleActivityWithRetry runs an activity until it succeeds or the policy's attempts are used up, and returns its
// result or its last error. It is built from ordinary orchestration calls: each attempt is a schedule and each pause a
// timer, and with a timeout, each attempt is a Select of the activity, scheduled first, and a timer. It suspends the
// code. To do other work meanwhile, call it inside Context.Go.
func (c *Context) ScheduleActivityWithRetry(name, input string, policy RetryPolicy, options ...ActivityOption) (string, error) {
	if policy.MaxAttempts < 1 {
		panic("orch: a retry policy needs at least one attempt")
	}
	for n := 1; ; n++ {
		value, err := c.attempt(name, input, policy.Timeout, options)
		if err == nil || errors.Is(err, ErrActivityTimeout) || n == policy.MaxAttempts {
			return value, err
		}
		if policy.Backoff == nil {
			continue
		}
		if pause := policy.Backoff(n); pause > 0 {
			if _, err := c.ScheduleTimer(pause).Await(); err != nil {
				return "", err
			}
		}
	}
}

func (c *Context) attempt(name, input string, timeout time.Duration, options []ActivityOption) (string, error) {
	activity := c.ScheduleActivity(name, input, options...)
	if timeout <= 0 {
		return activity.Await()
	}
	i, value, err := Select(activity, c.ScheduleTimer(timeout))
	if i == 1 {
		return "", ErrActivityTimeout
	}
	return value, err
}
