// Package jsonform reads and writes the JSON of the contract: objects whose fields are read by name, and finished text that is
// appended.
//
//	var o jsonform.Object
//	o.Scan(text)
//	name, at := o.Text("name"), o.Number("fire_at_ms")
//	if o.Err != nil { … } // the first field that is missing, doubled or of another type
//
// It refuses what the contract's reader refuses; engine/jsoncodec.go says why it is written by hand. Values nest at most 128
// deep.
package jsonform
