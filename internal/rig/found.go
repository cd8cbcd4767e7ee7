package rig

import (
	"fmt"
	"strings"

	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/cluster"
)

// Found writes violations as stories expect them.
func Found(list []cluster.Violation) string {
	if len(list) == 0 {
		return "nothing"
	}
	var lines []string
	for _, v := range list {
		item := ""
		if v.WorkItem != "" {
			item = " item=" + strings.ReplaceAll(v.WorkItem, " ", "_")
		}
		lines = append(lines, fmt.Sprintf("%s %s node=%s instance=%s%s at=%s\n  %s", v.Property, v.Class, v.Node, v.Instance, item, pretty.Duration(v.VirtualMs), v.Message))
	}
	return strings.Join(lines, "\n")
}
