package orch

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/durosim/durosim/engine/orchhost"
)

// NewGUID returns a new globally unique id. Like UTCNowMs and RemoteKVValue, it awaits an activity, so the answer is
// recorded and the same in every replay.
func (c *Context) NewGUID() (string, error) {
	return c.ScheduleActivity(orchhost.SystemNewGUID, "").Await()
}

// UTCNowMs returns the time on the clock of the worker that answers, in milliseconds.
func (c *Context) UTCNowMs() (int64, error) {
	text, err := c.ScheduleActivity(orchhost.SystemUTCNowMs, "").Await()
	if err != nil {
		return 0, err
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("system call %s: %w", orchhost.SystemUTCNowMs, err)
	}
	return ms, nil
}

// RemoteKVValue returns the value of a key of any instance at the time a worker read it, and whether the key existed.
func (c *Context) RemoteKVValue(instance, key string) (value string, found bool, err error) {
	input, err := json.Marshal(orchhost.RemoteKey{InstanceID: instance, Key: key})
	if err != nil {
		return "", false, err
	}
	text, err := c.ScheduleActivity(orchhost.SystemGetKVValue, string(input)).Await()
	if err != nil {
		return "", false, err
	}
	var answer *string
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return "", false, fmt.Errorf("system call %s: %w", orchhost.SystemGetKVValue, err)
	}
	if answer == nil {
		return "", false, nil
	}
	return *answer, true, nil
}
