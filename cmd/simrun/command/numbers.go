package command

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// grouped formats a number with commas between groups of three digits.
func grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	var parts []string
	for len(s) > 3 {
		parts = append([]string{s[len(s)-3:]}, parts...)
		s = s[:len(s)-3]
	}
	return strings.Join(append([]string{s}, parts...), ",")
}

// perSecond formats a rate as a whole number, with one decimal below ten.
func perSecond(n uint64, d time.Duration) string {
	if d <= 0 {
		return "-"
	}
	rate := float64(n) / d.Seconds()
	if rate < 10 {
		return fmt.Sprintf("%.1f", rate)
	}
	return grouped(uint64(rate))
}

// longTime formats a virtual time in the largest units that it needs: 3d 04h 12m, 12m 30s, 9.125s.
func longTime(ms int64) string {
	s := ms / 1000
	switch {
	case s >= 86400:
		return fmt.Sprintf("%dd %02dh %02dm", s/86400, s/3600%24, s/60%60)
	case s >= 3600:
		return fmt.Sprintf("%dh %02dm %02ds", s/3600, s/60%60, s%60)
	case s >= 60:
		return fmt.Sprintf("%dm %02ds", s/60, s%60)
	}
	return seconds(ms)
}

// seconds formats a virtual time in seconds, to the millisecond.
func seconds(ms int64) string { return fmt.Sprintf("%d.%03ds", ms/1000, ms%1000) }

// plural formats a count with its noun.
func plural(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(n) + " " + many
}
