// Package export converts a stored run into forms that work without simrun: a Go test that contains the whole run, and
// a log of its provider calls, one per line, up to the first answer that the contract does not allow.
//
//	source, err := export.GoTest(entry, "shop_test") // a test file
//	log, refusal, err := export.Calls(config)       // a log for simrun check-log
package export
