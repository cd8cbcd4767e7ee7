// Package show formats values that may contain pointers, for use in messages. The result resembles that of fmt's %+v,
// but shows a pointer's target instead of its address, because the address varies between processes.
//
//	show.Value(p) // {ID:7 Output:done}, where %+v says {ID:7 Output:0xc000012345}
package show
