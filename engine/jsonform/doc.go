// Package jsonform reads and writes the contract's JSON. It looks up object fields by name and writes by appending to a
// buffer.
//
//	var o jsonform.Object
//	o.Scan(text)
//	name, at := o.Text("name"), o.Number("fire_at_ms")
//	if o.Err != nil { … } // the first field that is missing, duplicated, or of the wrong type
//
// It rejects exactly the input that the contract's reader rejects; engine/jsoncodec.go explains why it is written by
// hand. Values may be nested at most 128 levels deep.
package jsonform
