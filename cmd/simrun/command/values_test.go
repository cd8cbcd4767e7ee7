package command

import (
	"strings"
	"testing"

	"github.com/durosim/durosim/internal/sample"
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
		"0..0xffffffffffffffff":   "the range has all seeds",
	} {
		var got seedRange
		if err := got.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want an error with %q", text, err, want)
		}
	}
}

func TestShardsFromTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		given string
		env   map[string]string
		want  shard
		err   string
	}{
		{"", nil, shard{}, ""},
		{"2/3", map[string]string{"TEST_SHARD_INDEX": "0", "TEST_TOTAL_SHARDS": "4"}, shard{2, 3}, ""},
		{"", map[string]string{"TEST_SHARD_INDEX": "0", "TEST_TOTAL_SHARDS": "4"}, shard{1, 4}, ""},
		{"", map[string]string{"SLURM_ARRAY_TASK_ID": "5", "SLURM_ARRAY_TASK_MIN": "3", "SLURM_ARRAY_TASK_COUNT": "4"}, shard{3, 4}, ""},
		{"/8", map[string]string{"JOB_COMPLETION_INDEX": "7"}, shard{8, 8}, ""},
		{"", map[string]string{"JOB_COMPLETION_INDEX": "7"}, shard{}, ""},
		{"/8", map[string]string{"JOB_COMPLETION_INDEX": "8"}, shard{}, "JOB_COMPLETION_INDEX=8: not an index of 8 parts"},
		{"", map[string]string{"TEST_SHARD_INDEX": "x", "TEST_TOTAL_SHARDS": "4"}, shard{}, "TEST_SHARD_INDEX=x"},
		{"", map[string]string{"SLURM_ARRAY_TASK_ID": "1"}, shard{}, "SLURM_ARRAY_TASK_ID=1: SLURM_ARRAY_TASK_COUNT does not say of how many parts"},
		{"/8", nil, shard{}, "--shard /8: the environment does not name a part"},
	} {
		var given shard
		if c.given != "" {
			sample.OK(t, given.UnmarshalText([]byte(c.given)))
		}
		got, err := given.fromEnvironment(func(name string) string { return c.env[name] })
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q, %v: %v, %v; want %v, %q", c.given, c.env, got, err, c.want, c.err)
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
