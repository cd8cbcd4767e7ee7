package oracle

// Freedom is the id of something that the contract leaves to the provider (docs/contract/provider.md#p10). Each is
// an explicit branch of the specification; Options.Deny takes it away from providers that promise more.
type Freedom string

// The freedoms of docs/contract/provider.md#p10, and those that its other sections leave without a number.
const (
	none Freedom = ""

	F1AnyInstance       Freedom = "F1"
	F2TokenText         Freedom = "F2"
	F3Polling           Freedom = "F3"
	F4OrphanStops       Freedom = "F4"
	F5Contention        Freedom = "F5"
	F6Depths            Freedom = "F6"
	F7DuplicateAppend   Freedom = "F7"
	F8ExpiredAbandon    Freedom = "F8"
	F9AbandonScope      Freedom = "F9"
	F10Texts            Freedom = "F10"
	F11Order            Freedom = "F11"
	F12Times            Freedom = "F12"
	F13ErrorContext     Freedom = "F13"
	F14RowlessContext   Freedom = "F14"
	F15DeletedCount     Freedom = "F15"
	F16UnknownStatus    Freedom = "F16"
	F17MisKinded        Freedom = "F17"
	F18RunningStamp     Freedom = "F18"
	F19Bytes            Freedom = "F19"
	F20HalfNamed        Freedom = "F20"
	F21MissingParent    Freedom = "F21"
	F22BulkAtomicity    Freedom = "F22"
	F23Packed           Freedom = "F23"
	F24DuringFetch      Freedom = "F24"
	F25Redelivered      Freedom = "F25"
	F26ShorterSession   Freedom = "F26"
	F27LateTouch        Freedom = "F27"
	F28SurvivingWork    Freedom = "F28"
	XOrphanBeforeStart  Freedom = "X1"
	XUndecodableRow     Freedom = "X2"
	XUnknownDeleted     Freedom = "X3"
	XPointerOfLateRow   Freedom = "X4"
	XRowlessUndecodable Freedom = "X5"
)

// FreedomInfo describes a freedom.
type FreedomInfo struct {
	ID      Freedom
	Summary string
	// Branch describes where the specification branches for it.
	Branch string
}

// Freedoms returns all freedoms: the 28 of docs/contract/provider.md#p10 in its order, and then the unnumbered ones. The
// caller owns the slice.
func Freedoms() []FreedomInfo {
	return []FreedomInfo{
		{F1AnyInstance, "which eligible instance is returned", "fetch: any eligible instance; denied: the one with the oldest visible message"},
		{F2TokenText, "token text", "fetch: any text that was never a token before; always granted"},
		{F3Polling, "short or long polling", "a call takes effect at any instant of its span; always granted"},
		{F4OrphanStops, "nothing after an orphan drop or a context-less batch", "fetch: nothing, or the next instance; orphans dropped or not yet"},
		{F5Contention, "spurious nothing and retryable errors under contention", "every call may fail retryably, every fetch find nothing; checks of one caller deny it"},
		{F6Depths, "queue depth of expired and abandoned rows", "depths: counted or not"},
		{F7DuplicateAppend, "duplicate append: error or ignored", "append: permanent error, or success with the new events stored or none"},
		{F8ExpiredAbandon, "abandon with an expired token", "abandon: success, or permanent error unless denied"},
		{F9AbandonScope, "whether abandon touches messages outside the batch", "abandon: count and delay, each for the batch or for all"},
		{F10Texts, "error texts and operation names", "errors: only class and required words are compared; always granted"},
		{F11Order, "order of lists, and which roots a bulk limit takes", "lists are compared as sets; one branch for each choice of roots"},
		{F12Times, "creation, update and start times", "times that are told are not compared; always granted"},
		{F13ErrorContext, "history_error text, and the snapshot beside it", "fetch: neither is compared; always granted"},
		{F14RowlessContext, "name, version and execution without an instances row", "fetch: not compared when they come from the history"},
		{F15DeletedCount, "instances_deleted for unknown or repeated ids", "delete: between the instances removed and the length of the list"},
		{F16UnknownStatus, "status without an execution row", "info: not compared"},
		{F17MisKinded, "a mis-kinded item in an ack or work queue", "ack, enqueue: error, skip or store"},
		{F18RunningStamp, "whether status Running stamps completed_at", "ack: a time that may be absent"},
		{F19Bytes, "tombstone times and byte counts", "stats: any size that is not absurd; denied: bytes of the canonical JSON"},
		{F20HalfNamed, "instances row from only one of name and version", "ack: row created or not"},
		{F21MissingParent, "ack for a child whose parent is missing", "ack: error of either class, or success"},
		{F22BulkAtomicity, "atomicity of bulk calls over trees and instances", "bulk: after an error any part may be done"},
		{F23Packed, "parts at or above 1000 in the filter", "fetch: compared as triples or packed"},
		{F24DuringFetch, "messages that become visible while a fetch runs", "fetch: in the batch or not, within the call's span; always granted"},
		{F25Redelivered, "position of a redelivered worker row", "work fetch: before or behind any other"},
		{F26ShorterSession, "whether a refresh may shorten the session lock", "work fetch: any end between both"},
		{F27LateTouch, "whether a late ack touches another owner's session", "work ack and renewal: touched or not"},
		{F28SurvivingWork, "whether worker rows survive a forced delete", "forced delete: removed, or kept without their tokens"},
		{XOrphanBeforeStart, "orphans while a delayed start is queued (docs/contract-decisions.md#row-4 keeps them)", "fetch: dropped or kept"},
		{XUndecodableRow, "a worker row that cannot be decoded blocks its queue", "work fetch: permanent error, nothing or the next"},
		{XUnknownDeleted, "queue rows of listed ids that have no instance", "atomic delete: removed or kept"},
		{XPointerOfLateRow, "current execution of a row that is created after a later execution", "ack: the acked execution, or the largest (I9)"},
		{XRowlessUndecodable, "context of an instance without a row whose history cannot be decoded", "fetch: delivered with history_error, or passed over; with a start message in the batch delivered, with history_error or without a history"},
	}
}

// freedoms is a set of denied freedoms.
type freedoms []Freedom

func (d freedoms) grants(f Freedom) bool {
	for _, denied := range d {
		if denied == f {
			return false
		}
	}
	return true
}
