// Package callform is the JSON form of the calls of a provider and of their answers: that of docs/oracle-protocol.md and
// of recorded logs.
//
//	params, err := callform.EncodeCall(c)
//	c, err := callform.DecodeCall(method, params)
//	result, err := callform.EncodeResult(method, answer)
//	answer, err := callform.DecodeResult(method, result)
//
// The fields are those of the structs of engine/call and engine, under the names of their tags. Durations are whole
// milliseconds. A needed field that is missing is an error, and so is an unknown field of a call; results may have more
// fields than the method knows. Each error says where in the value it is, as in "params.metadata.status".
package callform
