// Package page writes a self-contained HTML file. It shows a run over virtual time, a plan's rollback map, or a
// campaign's totals, and needs neither a network nor other files.
//
//	err := (&page.Page{Title: "orders, seed 7", Run: timeline}).Write(w)
package page
