// Package eventdata has the data of events, one struct for each kind, and the details of errors, with their JSON.
//
//	e := engine.Event{EventID: 2, Data: eventdata.TimerCreated{FireAtMs: 5000}}
//
// Package engine has aliases for the types that users need: engine.EventData, EventKind, CarriedEvent, ErrorDetails.
// The set of kinds is closed, and data is held by value.
package eventdata
