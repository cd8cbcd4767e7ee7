// Package eventdata defines the data of events, one struct for each kind, and the details of errors, with their JSON.
//
//	e := engine.Event{EventID: 2, Data: eventdata.TimerCreated{FireAtMs: 5000}}
//
// Package engine has aliases for the types that users need: engine.EventData, EventKind, CarriedEvent, ErrorDetails.
// The set of kinds is closed. Events hold data by value.
package eventdata
