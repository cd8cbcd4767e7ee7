// Package callform converts the calls of a provider and their answers to and from JSON, in the form of
// docs/oracle-protocol.md and of recorded logs.
//
//	params, err := callform.EncodeCall(c)
//	c, err := callform.DecodeCall(method, params)
//	result, err := callform.EncodeResult(method, answer)
//	answer, err := callform.DecodeResult(method, result)
//
// The fields are those of the structs of internal/call and engine, under the names in their tags. Durations are whole
// milliseconds. A missing required field is an error, and so is an unknown field of a call; results may have more fields
// than the method knows. Each error gives its place in the value, as in "params.metadata.status".
package callform
