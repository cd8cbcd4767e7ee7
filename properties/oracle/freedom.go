package oracle

import (
	"strings"

	"github.com/durosim/durosim/engine"
)

// Freedom is the id of a choice that the contract leaves to the provider (docs/contract/provider.md#p10). Each freedom
// is an explicit branch of the specification. Options.Deny denies freedoms to providers that promise more.
type Freedom string

// These are the freedoms of docs/contract/provider.md#p10, plus those that other sections grant without a number. Other
// packages use the ids, which Freedoms lists.
const (
	none Freedom = ""

	f1AnyInstance       Freedom = "F1"
	f2TokenText         Freedom = "F2"
	f3Polling           Freedom = "F3"
	f4OrphanStops       Freedom = "F4"
	f5Contention        Freedom = "F5"
	f6Depths            Freedom = "F6"
	f7DuplicateAppend   Freedom = "F7"
	f8ExpiredAbandon    Freedom = "F8"
	f9AbandonScope      Freedom = "F9"
	f10Texts            Freedom = "F10"
	f11Order            Freedom = "F11"
	f12Times            Freedom = "F12"
	f13ErrorContext     Freedom = "F13"
	f14RowlessContext   Freedom = "F14"
	f15DeletedCount     Freedom = "F15"
	f16UnknownStatus    Freedom = "F16"
	f17MisKinded        Freedom = "F17"
	f18RunningStamp     Freedom = "F18"
	f19Bytes            Freedom = "F19"
	f20HalfNamed        Freedom = "F20"
	f21MissingParent    Freedom = "F21"
	f22BulkAtomicity    Freedom = "F22"
	f23Packed           Freedom = "F23"
	f24DuringFetch      Freedom = "F24"
	f25Redelivered      Freedom = "F25"
	f26ShorterSession   Freedom = "F26"
	f27LateTouch        Freedom = "F27"
	f28SurvivingWork    Freedom = "F28"
	xOrphanBeforeStart  Freedom = "X1"
	xUndecodableRow     Freedom = "X2"
	xUnknownDeleted     Freedom = "X3"
	xPointerOfLateRow   Freedom = "X4"
	xRowlessUndecodable Freedom = "X5"
	xPreRelease         Freedom = "X6"
)

// FreedomInfo describes a freedom.
type FreedomInfo struct {
	ID      Freedom
	Summary string
	// Branch says what the branch of the specification allows and, where that is not plain, what is left if it is denied.
	Branch string
}

// Always reports whether the freedom cannot be denied.
func (f FreedomInfo) Always() bool { return strings.HasSuffix(f.Branch, "always granted") }

// Freedoms returns all freedoms: first the 28 in docs/contract/provider.md#p10, in its order, then those without a
// number. The caller owns the slice.
func Freedoms() []FreedomInfo {
	return []FreedomInfo{
		{f1AnyInstance, "which eligible instance is returned", "fetch: any eligible instance; denied: the one with the oldest visible message"},
		{f2TokenText, "token text", "fetch: any text that was never a token before; always granted"},
		{f3Polling, "short or long polling", "a call takes effect at any instant of its span; always granted"},
		{f4OrphanStops, "nothing after an orphan drop or a context-less batch", "fetch: nothing, or the next instance; orphans dropped or not yet; denied: the next instance, or nothing with all orphans dropped"},
		{f5Contention, "spurious nothing and retryable errors under contention", "every call may fail retryably, every fetch may find nothing; denied where only one caller is active"},
		{f6Depths, "queue depth of expired and abandoned rows", "depths: counted or not; denied: counted"},
		{f7DuplicateAppend, "duplicate append: error or ignored", "append: permanent error, or success with the new events stored or none; denied: permanent error"},
		{f8ExpiredAbandon, "abandon with an expired token", "abandon: success or permanent error; denied: success"},
		{f9AbandonScope, "whether abandon touches messages outside the batch", "abandon: count and delay, each for the batch or for all; denied: for the batch"},
		{f10Texts, "error texts and operation names", "errors: only class and required words are compared; always granted"},
		{f11Order, "order of lists, and which roots a bulk limit takes", "lists are compared as sets; one branch for each choice of roots; always granted"},
		{f12Times, "creation, update and start times", "returned times are not compared; always granted"},
		{f13ErrorContext, "history_error text, and the snapshot beside it", "fetch: neither is compared; always granted"},
		{f14RowlessContext, "name, version and execution without an instances row", "fetch: not compared when they come from the history; denied: name and version are"},
		{f15DeletedCount, "instances_deleted for unknown or repeated ids", "delete: between the instances removed and the length of the list; denied: the instances removed"},
		{f16UnknownStatus, "status without an execution row", "info: not compared; denied: no status"},
		{f17MisKinded, "a mis-kinded item in an ack or work queue", "ack, enqueue: error, skip or store; denied: error"},
		{f18RunningStamp, "whether status Running stamps, clears or keeps completed_at", "ack: a time that may be absent; denied: the time of the ack"},
		{f19Bytes, "tombstone times and byte counts", "stats: any plausible size; denied: bytes of the canonical JSON"},
		{f20HalfNamed, "instances row from only one of name and version", "ack: row created or not; denied: not created"},
		{f21MissingParent, "ack for a child whose parent is missing", "ack: error of either class, or success; denied: success"},
		{f22BulkAtomicity, "atomicity of bulk calls over trees and instances", "bulk: after an error any part may be done; denied: none is"},
		{f23Packed, "parts at or above 1000 in the filter", "fetch: compared as triples or packed; denied: as triples"},
		{f24DuringFetch, "messages that become visible while a fetch runs", "fetch: in the batch or not, within the call's span; always granted"},
		{f25Redelivered, "position of a redelivered worker row", "work fetch: before or after any other; denied: where it was"},
		{f26ShorterSession, "whether a refresh may shorten the session lock", "work fetch: any end between both; denied: the refresh sets the end, even to an earlier time"},
		{f27LateTouch, "whether a late ack touches another owner's session", "work ack and renewal: touched or not; denied: not touched"},
		{f28SurvivingWork, "whether worker rows survive a forced delete", "forced delete: removed, or kept without their tokens; denied: removed"},
		{xOrphanBeforeStart, "orphans while a delayed start is queued (docs/contract-decisions.md#row-4 keeps them)", "fetch: dropped or kept; denied: kept until the start is visible"},
		{xUndecodableRow, "a worker row that cannot be decoded blocks its queue", "work fetch: permanent error, nothing or the next; denied: the next, or nothing if no other row is ready"},
		{xUnknownDeleted, "queue rows of listed ids that have no instance", "atomic delete: removed or kept; denied: removed, and a listed id without an instance may not leave children behind either"},
		{xPointerOfLateRow, "current execution of a row that is created after a later execution", "ack: the acked execution, or the largest (I9); denied: the acked execution"},
		{xRowlessUndecodable, "context of an instance without a row whose history cannot be decoded", "fetch: delivered with history_error, or skipped; with a start message in the batch delivered, with history_error or without a history; denied: delivered with history_error if a start can be decoded, else skipped"},
		{xPreRelease, "pre-release parts of pins and bounds (docs/contract/provider.md#p6.4)", "fetch: compared by their three numbers, or as semantic versions; denied: by their three numbers"},
	}
}

// Denied returns the freedoms that a release's contract denies (engine.Contracts). It returns none for an empty name,
// and an error if the release has no contract.
func Denied(release string) ([]Freedom, error) {
	if release == "" {
		return nil, nil
	}
	c, err := engine.ContractOf(release)
	if err != nil || !c.AbandonsBatch {
		return nil, err
	}
	return []Freedom{f9AbandonScope}, nil
}

// freedoms is a set of denied freedoms: a bit for each.
type freedoms uint64

// bit returns the freedom's bit in a set. That of none is in no set.
func (f Freedom) bit() (set freedoms) {
	if f == none {
		return 0
	}
	n := f[1] - '0'
	if len(f) > 2 {
		n = 10*n + f[2] - '0'
	}
	if f[0] == 'X' {
		n += 32
	}
	return 1 << n
}
