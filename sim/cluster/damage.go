package cluster

import "strings"

// damagedEvents and damagedMessages are what damaged bytes may be: no JSON, another form, or a form with a field that
// is missing, given twice or of another type. No codec accepts any of them, whatever event or message it stands for.
var (
	damagedEvents = damages(`{"event_id":2,"source_event_id":1,"instance_id":"i","execution_id":1,"timestamp_ms":1,"duroxide_version":"1.5.0","type":"ActivityFailed","details":{"Application":{"kind":"ActivityFailed","message":"m","retryable":false}}}`,
		`,"timestamp_ms":1`, ``, `,"timestamp_ms":1`, `,"timestamp_ms":1,"timestamp_ms":1`, `"event_id":2`, `"event_id":"2"`, `"i"`, `1`, `,"type":"ActivityFailed"`, ``)
	damagedMessages = damages(`{"ActivityFailed":{"instance":"i","execution_id":1,"id":2,"details":{"Application":{"kind":"ActivityFailed","message":"m","retryable":false}}}}`,
		`,"id":2`, ``, `,"id":2`, `,"id":2,"id":2`, `"id":2`, `"id":"2"`, `"i"`, `1`, `}}}}`, `}}},"CancelInstance":{"instance":"i","reason":"r"}}`)
)

// damages returns an event or a message, each time with one change more of those that fit both, or of its own: pairs of
// old and new text.
func damages(whole string, own ...string) []string {
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
