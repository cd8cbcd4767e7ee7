package engine

// Codec encodes and decodes events and work items. It belongs to a build: DecodeEvent fails for kinds that the build
// does not know, just as a running node of that build would.
//
// A Codec is immutable, so all nodes of a build may share it. The Append methods append to dst and return the extended
// slice; they fail only for data that the codec does not know. Decoded values do not alias their input. Equal events
// encode to equal bytes in every process.
type Codec interface {
	// Name identifies the codec in error messages. All codecs of a build have the same name.
	Name() string
	// Kinds returns the event kinds that the codec reads and writes.
	Kinds() KindSet
	AppendEvent(dst []byte, e Event) ([]byte, error)
	DecodeEvent(data []byte) (Event, error)
	AppendWorkItem(dst []byte, w WorkItem) ([]byte, error)
	DecodeWorkItem(data []byte) (WorkItem, error)
}

// Rereader is implemented by codecs that can sometimes tell, without decoding, that they would produce the same result
// as another codec.
type Rereader interface {
	Codec
	// RereadsEvent reports whether this codec is known to decode e from the same bytes from which the other codec
	// decoded it.
	RereadsEvent(from Codec, e Event) bool
	// RereadsWorkItem is the counterpart of RereadsEvent for work items.
	RereadsWorkItem(from Codec, w WorkItem) bool
}

// WorkItemKinds1x returns the work item kinds of builds before 2.0.0.
func WorkItemKinds1x() WorkItemKindSet { return WorkItemKinds2x().Without(ItemExternalRaised2) }

// WorkItemKinds2x returns the work item kinds of 2.0.0 and later.
func WorkItemKinds2x() WorkItemKindSet { return allItems }

var allItems = func() (all WorkItemKindSet) {
	for _, w := range items {
		all = all.With(w.Kind())
	}
	return all
}()
