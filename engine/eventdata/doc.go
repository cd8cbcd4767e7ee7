// Package eventdata defines the data of events, with one struct for each kind of event, and error details. It also
// defines the JSON form of both.
//
//	e := engine.Event{EventID: 2, Data: eventdata.TimerCreated{FireAtMs: 5000}}
//
// Package engine has aliases for the types that users need: engine.EventData, EventKind, CarriedEvent and ErrorDetails.
// The set of kinds is closed. Events hold their data by value.
//
// [Object] and [AppendText] read and write the contract's JSON, fields by name. They reject exactly the input that the
// contract's reader rejects, and nesting below 128 levels; engine/jsoncodec.go explains why they are written by hand.
package eventdata
