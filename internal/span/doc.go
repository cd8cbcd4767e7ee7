// Package span has the one form in which durosim shows virtual time: that of scenario files and of flags such as --at.
//
//	span.Text(309_614)   // 5m9.614s
package span
