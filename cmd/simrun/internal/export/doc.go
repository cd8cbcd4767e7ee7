// Package export converts a stored run to forms that can be used without simrun. One is a Go test that contains the
// whole run. The other is a log of the run's provider calls, one per line, up to the first answer that the contract
// does not allow.
//
//	source, err := export.GoTest(entry, "shop_test") // a test file
//	log, refusal, err := export.Calls(config)       // a log for simrun check-log
package export
