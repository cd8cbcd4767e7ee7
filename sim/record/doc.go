// Package record names the kinds of records that a simulated world keeps of events outside the store.
//
//	switch r.Kind {
//	case record.NodeCrashed: // r.Node, r.Incarnation
//	}
//
// A record itself is a cluster.Record. The comment on each kind lists the fields that it sets.
package record
