// Package callform converts provider calls and their answers to and from JSON. The format is that of
// docs/oracle-protocol.md and of recorded logs.
//
//	params, err := callform.EncodeCall(c)
//	c, err := callform.DecodeCall(method, params)
//	result, err := callform.EncodeResult(method, answer)
//	answer, err := callform.DecodeResult(method, result)
//
// The fields are those of the structs in engine/call and engine, named by their tags. Durations are in whole
// milliseconds. A missing required field is an error, and so is an unknown field in a call. A result may have fields
// that the method does not define. Each error gives its location in the value, as in "params.metadata.status".
package callform
