package eventdata

// Opaque is event data with the text of the whole event. OpaqueItem is the counterpart for work items.
type Opaque struct {
	Data
	Text string
}

// Known returns the data without the text. If the kind is unknown, the result has only the kind.
func Known(d Data) Data {
	if o, ok := d.(Opaque); ok {
		return o.Data
	}
	return d
}

// unknownData is the data of an event whose kind has no struct.
type unknownData struct{ name Kind }

func (u unknownData) kind() Kind { return u.name }

// Unknown returns data of kind k, which has no struct.
func Unknown(k Kind) Data { return unknownData{k} }
