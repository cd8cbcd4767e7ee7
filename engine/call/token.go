package call

import "reflect"

// LockToken returns c's lock token, or "" if c has none.
func LockToken(c Call) string {
	switch r := c.(type) {
	case AckOrchestrationItem:
		return r.LockToken
	case AbandonOrchestrationItem:
		return r.LockToken
	case RenewOrchestrationItemLock:
		return r.LockToken
	case AckWorkItem:
		return r.LockToken
	case AbandonWorkItem:
		return r.LockToken
	case RenewWorkItemLock:
		return r.LockToken
	}
	return ""
}

// WithLockToken returns a copy of c with its lock token replaced by token. A call without a lock token is returned
// unchanged.
func WithLockToken(c Call, token string) Call {
	changed := reflect.New(reflect.TypeOf(c)).Elem()
	changed.Set(reflect.ValueOf(c))
	if place := changed.FieldByName("LockToken"); place.IsValid() {
		place.SetString(token)
	}
	return changed.Interface().(Call)
}
