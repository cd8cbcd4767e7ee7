package eventdata

// Opaque is the data of an event with the text of the whole event. OpaqueItem is the same for work items.
type Opaque struct {
	Data
	Text string
}

// Known returns the data without its text. For data of an unknown kind, only the kind is left.
func Known(d Data) Data {
	if o, ok := d.(Opaque); ok {
		return o.Data
	}
	return d
}

// unknownData is event data of a kind without a struct.
type unknownData struct{ name Kind }

func (u unknownData) kind() Kind { return u.name }

// Unknown returns data of a kind without a struct.
func Unknown(k Kind) Data { return unknownData{k} }
