package command

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// grouped formats a number with commas as thousands separators.
func grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	var parts []string
	for len(s) > 3 {
		parts = append([]string{s[len(s)-3:]}, parts...)
		s = s[:len(s)-3]
	}
	return strings.Join(append([]string{s}, parts...), ",")
}

// perSecond formats a rate per second as a whole number, or with one decimal place if it is below ten.
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

// plural formats a count followed by the singular or plural noun.
func plural(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(n) + " " + many
}
