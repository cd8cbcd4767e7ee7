// Package export turns a stored run into what others can use without durosim's command: a Go test that holds the whole run,
// and the provider calls of the run, one a line, up to the first answer that the contract does not allow.
//
//	source, err := export.GoTest(entry, "shop_test") // a test file
//	log, refusal, err := export.Calls(config)       // a log for simrun check-log
package export
