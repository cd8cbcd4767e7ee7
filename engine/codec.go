package engine

// Codec encodes events and work items and decodes them. It belongs to a build: DecodeEvent fails for a kind that the
// build does not know, as a running node of that build does.
//
// A Codec is immutable and may be shared by every node of the build. The Append methods append to dst and return the
// extended slice; they fail only for data that the codec does not know. Decoded values do not alias the argument. Equal
// events encode to equal bytes, in every process.
type Codec interface {
	// Name identifies the codec in error messages; all codecs of a build share one name.
	Name() string
	// Kinds returns the event kinds that the codec reads and writes.
	Kinds() KindSet
	AppendEvent(dst []byte, e Event) ([]byte, error)
	DecodeEvent(data []byte) (Event, error)
	AppendWorkItem(dst []byte, w WorkItem) ([]byte, error)
	DecodeWorkItem(data []byte) (WorkItem, error)
}

// Rereader is a Codec that can sometimes predict its result from another codec's, without decoding again.
type Rereader interface {
	Codec
	// RereadsEvent reports whether this codec is known to decode the bytes that from decoded to e to the same e.
	RereadsEvent(from Codec, e Event) bool
	// RereadsWorkItem is RereadsEvent for a work item.
	RereadsWorkItem(from Codec, w WorkItem) bool
}

// WorkItemKinds1x returns the kinds of work items of the builds before 2.0.0.
func WorkItemKinds1x() WorkItemKindSet {
	return WorkItemKinds(
		ItemStartOrchestration, ItemContinueAsNew, ItemActivityExecute, ItemActivityCompleted, ItemActivityFailed, ItemTimerFired,
		ItemExternalRaised, ItemQueueMessage, ItemSubOrchCompleted, ItemSubOrchFailed, ItemCancelInstance,
	)
}

// WorkItemKinds2x returns the kinds of work items from 2.0.0 on.
func WorkItemKinds2x() WorkItemKindSet {
	return WorkItemKinds1x().With(ItemExternalRaised2)
}
