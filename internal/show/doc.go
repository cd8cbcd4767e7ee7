// Package show formats values that may contain pointers for use in messages. The result is like that of fmt's %+v,
// except that it shows what a pointer refers to instead of its address, which differs from one process to the next.
//
//	show.Value(p) // {ID:7 Output:done}, where %+v says {ID:7 Output:0xc000012345}
package show
