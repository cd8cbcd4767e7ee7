package orch

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// SystemActivityPrefix begins the names of the runtime's own activities; users cannot register under it.
const SystemActivityPrefix = "__duroxide_syscall:"

// The system activities: ordinary untagged activities that every node has. The input of the last is a RemoteKey as JSON,
// its result the value as a JSON string, or null; the others have no input.
const (
	SystemNewGUID    = SystemActivityPrefix + "new_guid"
	SystemUTCNowMs   = SystemActivityPrefix + "utc_now_ms"
	SystemGetKVValue = SystemActivityPrefix + "get_kv_value"
)

// RemoteKey names a key of another instance's state.
type RemoteKey struct {
	InstanceID string `json:"instance_id"`
	Key        string `json:"key"`
}

// NewGUID returns a fresh globally unique id. Like UTCNowMs and RemoteKVValue it awaits an activity, so its answer is
// recorded and is the same in each replay.
func (c *Context) NewGUID() (string, error) {
	return c.ScheduleActivity(SystemNewGUID, "").Await()
}

// UTCNowMs returns the clock of the worker that answers, in milliseconds.
func (c *Context) UTCNowMs() (int64, error) {
	text, err := c.ScheduleActivity(SystemUTCNowMs, "").Await()
	if err != nil {
		return 0, err
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("system call %s: %w", SystemUTCNowMs, err)
	}
	return ms, nil
}

// RemoteKVValue returns the value that a key of some instance had when a worker read it, and whether it had one.
func (c *Context) RemoteKVValue(instance, key string) (value string, found bool, err error) {
	input, err := json.Marshal(RemoteKey{instance, key})
	if err != nil {
		return "", false, err
	}
	text, err := c.ScheduleActivity(SystemGetKVValue, string(input)).Await()
	if err != nil {
		return "", false, err
	}
	var answer *string
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return "", false, fmt.Errorf("system call %s: %w", SystemGetKVValue, err)
	}
	if answer == nil {
		return "", false, nil
	}
	return *answer, true, nil
}
