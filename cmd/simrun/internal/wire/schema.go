package wire

import (
	"encoding/json"
	"reflect"

	"github.com/durosim/durosim/engine/call"
)

// Schema returns the JSON Schema (draft 2020-12) of the messages. A message is a request or an answer. An answer does
// not name its method, so the schema of METHOD's result is separate, in #/$defs/results/METHOD.
func Schema() ([]byte, error) {
	type schema = call.Schema
	integer, text, null := schema{"type": "integer", "minimum": 0}, schema{"type": "string"}, schema{"type": "null"}
	methods, results, names := []schema{}, schema{}, []string{}
	add := func(method string, params, result schema) {
		request := schema{"method": schema{"const": method}, "params": params}
		required := []string{"jsonrpc", "id", "method"}
		if fields, ok := params["required"].([]string); ok && len(fields) > 0 {
			required = append(required, "params")
		}
		methods = append(methods, schema{"if": schema{"properties": schema{"method": schema{"const": method}}},
			"then": schema{"properties": request, "required": required}})
		results[method] = result
		names = append(names, method)
	}
	with := func(field string, value schema) schema {
		return schema{"type": "object", "properties": schema{field: value}, "required": []string{field}, "additionalProperties": false}
	}
	nothing := schema{"type": "object", "additionalProperties": false}
	add("describe", nothing, call.TypeSchema(reflect.TypeFor[Described]()))
	add("reset", nothing, null)
	add("clock_now", nothing, integer)
	add("clock_set", with("now_ms", integer), integer)
	add("clock_advance", with("by_ms", integer), integer)
	add("fail_ack_step", with("step", integer), null)
	add("set_faults", with("on", schema{"type": "boolean"}), null)
	for _, c := range call.All() {
		if _, inProcess := c.(call.Plant); inProcess {
			continue
		}
		add(call.Method(c), call.ParamsSchema(c), call.ResultSchema(call.Method(c)))
	}
	definitions := call.Definitions()
	id := schema{"type": []string{"integer", "string"}}
	definitions["request"] = schema{"type": "object",
		"properties": schema{"jsonrpc": schema{"const": "2.0"}, "id": id, "method": schema{"enum": names}, "params": schema{"type": "object"}},
		"required":   []string{"jsonrpc", "id", "method"}, "additionalProperties": false, "allOf": methods}
	definitions["answer"] = schema{"type": "object",
		"properties": schema{"jsonrpc": schema{"const": "2.0"}, "id": schema{"type": []string{"integer", "string", "null"}},
			"result": schema{}, "error": schema{"type": "object", "properties": schema{"code": schema{"type": "integer"}, "message": text},
				"required": []string{"code", "message"}}},
		"required": []string{"jsonrpc", "id"}, "oneOf": []schema{{"required": []string{"result"}}, {"required": []string{"error"}}}}
	definitions["results"] = results
	data, err := json.MarshalIndent(schema{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "durosim's provider protocol: a line of it",
		"anyOf":   []schema{{"$ref": "#/$defs/request"}, {"$ref": "#/$defs/answer"}},
		"$defs":   definitions,
	}, "", " ")
	return append(data, '\n'), err
}
