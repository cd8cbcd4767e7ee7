// Package record has the kinds of what a simulated world records: what happens outside the store.
//
//	switch r.Kind {
//	case record.NodeCrashed: // r.Node, r.Incarnation
//	}
//
// cluster.Record holds a record; the comment of each kind names the fields that it sets.
package record
