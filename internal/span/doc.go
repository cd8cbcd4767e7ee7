// Package span formats virtual time the way that scenario files and flags such as --at write it:
//
//	span.Text(309_614)   // 5m9.614s
package span
