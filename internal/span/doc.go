// Package span formats virtual time in the syntax of scenario files and of flags such as --at:
//
//	span.Text(309_614)   // 5m9.614s
package span
