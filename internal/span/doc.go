// Package span formats virtual time as it is written in scenario files and in flags such as --at:
//
//	span.Text(309_614)   // 5m9.614s
package span
