// Package page writes a self-contained HTML file with a run over virtual time, the rollback map of a plan, or the
// totals of a campaign. The file needs no network and no other files.
//
//	err := (&page.Page{Title: "orders, seed 7", Run: timeline}).Write(w)
package page
