// Package export converts a stored run to a form that can be used without simrun: a Go test that contains the whole
// run, or a log of the run's provider calls. The log has one call per line and ends with the first answer that the
// contract does not allow.
//
//	source, err := export.GoTest(entry, "shop_test") // a test file
//	log, refusal, err := export.Calls(config)       // a log for simrun oracle --log
package export
