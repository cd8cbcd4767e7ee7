package engine

// Codec turns events and work items into bytes and back. It belongs to a build: a kind that the build does not know is
// an error of DecodeEvent, just as it is in a running node of that build.
//
// A Codec is immutable and may be shared by every node of the build. The Append methods append to dst and return the
// extended slice; they fail only for data that the codec does not know. Decoded values do not alias the argument. Equal
// events encode to equal bytes, in every process.
type Codec interface {
	// Name identifies the codec in messages; codecs of one build have one name.
	Name() string
	// Kinds are the event kinds that the codec reads and writes.
	Kinds() KindSet
	AppendEvent(dst []byte, e Event) ([]byte, error)
	DecodeEvent(data []byte) (Event, error)
	AppendWorkItem(dst []byte, w WorkItem) ([]byte, error)
	DecodeWorkItem(data []byte) (WorkItem, error)
}

// Rereader is a Codec that can sometimes predict its own result from another codec's, without decoding again.
type Rereader interface {
	Codec
	// RereadsEvent reports that this codec decodes to e the bytes that the codec from decoded to e. False means unknown.
	RereadsEvent(from Codec, e Event) bool
	// RereadsWorkItem is the same for a work item.
	RereadsWorkItem(from Codec, w WorkItem) bool
}

// WorkItemKinds1x are the work items of the builds before 2.0.0.
func WorkItemKinds1x() WorkItemKindSet {
	return WorkItemKinds(
		ItemStartOrchestration, ItemContinueAsNew, ItemActivityExecute, ItemActivityCompleted, ItemActivityFailed, ItemTimerFired,
		ItemExternalRaised, ItemQueueMessage, ItemSubOrchCompleted, ItemSubOrchFailed, ItemCancelInstance,
	)
}

// WorkItemKinds2x are the work items from 2.0.0 on.
func WorkItemKinds2x() WorkItemKindSet {
	return WorkItemKinds1x().With(ItemExternalRaised2)
}
