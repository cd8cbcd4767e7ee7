package command

import (
	"strings"
	"testing"
)

func TestSeedRanges(t *testing.T) {
	for text, want := range map[string]seedRange{
		"1":          {1, 1},
		"1000":       {1, 1000},
		"0x10":       {1, 16},
		"5..9":       {5, 5},
		"5-9":        {5, 5},
		"7..7":       {7, 1},
		"0x10..0x1F": {16, 16},
		"18446744073709551615..0xffffffffffffffff": {1<<64 - 1, 1},
	} {
		var got seedRange
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
}

func TestSenselessSeedsAreRefusedWithTheReason(t *testing.T) {
	for text, want := range map[string]string{
		"0":                       "at least one",
		"":                        "expected a count",
		"many":                    "expected a count",
		"9..5":                    "did you mean 5..9?",
		"1..x":                    `seed "x"`,
		"-3":                      `seed ""`,
		"1..99999999999999999999": "the largest",
		"0..0xffffffffffffffff":   "every seed there is",
	} {
		var got seedRange
		if err := got.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want an error with %q", text, err, want)
		}
	}
}

func TestShards(t *testing.T) {
	var s shard
	if err := s.UnmarshalText([]byte("3/4")); err != nil || s != (shard{3, 4}) {
		t.Errorf("3/4: %+v, %v", s, err)
	}
	for _, text := range []string{"", "3", "0/4", "5/4", "1/0", "a/b", "-1/4"} {
		if err := s.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken for %+v", text, s)
		}
	}
}
