package pages

import (
	"strings"

	"github.com/durosim/durosim/engine/call"
)

func init() { generated["protocol_items"] = itemBodies }

// itemBodies lists the fields of each kind of work item.
func itemBodies() string {
	b := table("kind", "fields")
	for _, body := range call.ItemBodies() {
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
		if fields == nil {
			fields = []string{"none"}
		}
		b.row("`"+body.Kind+"`", strings.Join(fields, ", "))
	}
	return b.String()
}
