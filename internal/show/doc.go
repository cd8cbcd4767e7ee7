// Package show has the form in which messages show a value whose parts may be pointers: that of fmt's %+v, with what
// they point to in place of the addresses, which differ from one process to the next.
//
//	show.Value(p) // {ID:7 Output:done}, where %+v says {ID:7 Output:0xc000012345}
package show
