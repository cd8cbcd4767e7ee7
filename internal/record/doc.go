// Package record names the kinds of records that a simulated world makes of events outside the store.
//
//	switch r.Kind {
//	case record.NodeCrashed: // r.Node, r.Incarnation
//	}
//
// cluster.Record holds a record; the comment of each kind names the fields that it sets.
package record
