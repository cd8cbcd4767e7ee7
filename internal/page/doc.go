// Package page writes one self-contained HTML file: a run over virtual time, the rollback map of a plan, the totals of a
// campaign. The file needs no network and no other file, and works from the disk.
//
//	err := (&page.Page{Title: "orders, seed 7", Run: timeline}).Write(w)
package page
