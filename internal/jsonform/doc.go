// Package jsonform reads and writes the JSON of the contract. It reads the fields of objects by name, and writes by
// appending text.
//
//	var o jsonform.Object
//	o.Scan(text)
//	name, at := o.Text("name"), o.Number("fire_at_ms")
//	if o.Err != nil { … } // the first field that is missing, doubled or of another type
//
// It rejects the same input as the contract's reader; engine/jsoncodec.go says why it is written by hand. Values nest
// at most 128 levels deep.
package jsonform
