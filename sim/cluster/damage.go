package cluster

import "strings"

// damagedEvents and damagedMessages are what damaged bytes may be: no JSON, another form, or a form with a field that
// is missing, given twice or of another type. No codec accepts any of them, whatever event or message it stands for.
var (
	damagedEvents = broken(`{"event_id":2,"source_event_id":1,"instance_id":"i","execution_id":1,"timestamp_ms":1,"duroxide_version":"1.5.0","type":"ActivityFailed","details":{"Application":{"kind":"ActivityFailed","message":"m","retryable":false}}}`,
		`,"timestamp_ms":1`, ``, `,"timestamp_ms":1`, `,"timestamp_ms":1,"timestamp_ms":1`, `"event_id":2`, `"event_id":"2"`, `"i"`, `1`, `,"type":"ActivityFailed"`, ``)
	damagedMessages = broken(`{"ActivityFailed":{"instance":"i","execution_id":1,"id":2,"details":{"Application":{"kind":"ActivityFailed","message":"m","retryable":false}}}}`,
		`,"id":2`, ``, `,"id":2`, `,"id":2,"id":2`, `"id":2`, `"id":"2"`, `"i"`, `1`, `}}}}`, `}}},"CancelInstance":{"instance":"i","reason":"r"}}`)
)

// broken returns texts that are no JSON object, and an event or a message with one change each: the changes of its own,
// and those that fit both. A change is a pair of old and new text.
func broken(whole string, own ...string) []string {
	list := []string{`{"event_id":`, ``, `null`, `[]`, whole + `}`, whole + whole, whole[:len(whole)-1]}
	for pairs := append(own,
		`"execution_id":1`, `"execution_id":-1`, `"execution_id":1`, `"execution_id":1.0`, `"execution_id":1`, `"execution_id":01`,
		`"execution_id":1`, `"execution_id":18446744073709551616`, `"execution_id":1`, `"execution_id":null`,
		`"execution_id":1`, `"execution_id":1,`, `"m"`, `"\q"`, `"m"`, `"\u12"`, `"m"`, "\"\n\"", `"m"`, `m`, `"m"`, `"m`,
		`"retryable":false`, `"retryable":0`, `{"Application"`, `{"Error"`, `"kind":"ActivityFailed"`, `"kind":"Failed"`,
		`"kind":"ActivityFailed"`, `"kind":{"Cancelled":{}}`, `{"Application"`, `{"Application":null,"Application"`,
	); len(pairs) > 0; pairs = pairs[2:] {
		list = append(list, strings.Replace(whole, pairs[0], pairs[1], 1))
	}
	return list
}
