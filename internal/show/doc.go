// Package show formats values that may contain pointers for messages. It prints them like fmt's %+v, but with the
// values that the pointers refer to in place of addresses, which differ from one process to the next.
//
//	show.Value(p) // {ID:7 Output:done}, where %+v says {ID:7 Output:0xc000012345}
package show
