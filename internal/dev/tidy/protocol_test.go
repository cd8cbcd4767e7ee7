package tidy

import (
	"strings"

	"github.com/durosim/durosim/engine/call"
)

func init() {
	generated["protocol_items"] = func() string {
		return bodies("kind", call.ItemBodies)
	}
	generated["protocol_events"] = func() string { return bodies("type", call.EventBodies) }
}

// bodies lists the fields of each kind of work item or event.
func bodies(head string, forms func() ([]call.Body, error)) string {
	list, err := forms()
	if err != nil {
		return err.Error()
	}
	b := table(head, "fields")
	for _, body := range list {
		var fields []string
		for _, f := range body.Fields {
			var notes []string
			if f.Type != "string" {
				notes = append(notes, f.Type)
			}
			if f.Nullable {
				notes = append(notes, "or null")
			}
			text := "`" + f.Name + "`"
			if len(notes) > 0 {
				text += " (" + strings.Join(notes, " ") + ")"
			}
			if f.Optional {
				text = "[" + text + "]"
			}
			fields = append(fields, text)
		}
		kind := "`" + body.Kind + "`"
		if body.Kind == "" {
			kind = "every one"
		}
		if fields == nil {
			fields = []string{"none"}
		}
		b.row(kind, strings.Join(fields, ", "))
	}
	return b.String()
}
