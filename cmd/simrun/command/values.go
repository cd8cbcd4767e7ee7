package command

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/internal/pretty"
)

// seed is a seed given in a flag, either in decimal or, with the prefix 0x, in hexadecimal.
type seed uint64

func (s *seed) UnmarshalText(text []byte) error {
	v, err := parseSeed(string(text))
	if err != nil {
		return err
	}
	*s = seed(v)
	return nil
}

// or returns the value of a flag, or another if the flag is not given.
func or[T any](flag *T, otherwise T) T {
	if flag == nil {
		return otherwise
	}
	return *flag
}

// alone returns the seed as a range, or r if there is none.
func (s *seed) alone(r seedRange) seedRange {
	if s == nil {
		return r
	}
	return seedRange{first: uint64(*s), count: 1}
}

func parseSeed(text string) (uint64, error) {
	digits, base := text, 10
	if hex, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
		digits, base = hex, 16
	}
	v, err := strconv.ParseUint(digits, base, 64)
	switch {
	case err == nil:
		return v, nil
	case strings.Contains(err.Error(), "out of range"):
		return 0, fmt.Errorf("seed %q is above %d, the largest", text, uint64(math.MaxUint64))
	}
	return 0, fmt.Errorf("seed %q: expected a number such as 42 or 0x2a", text)
}

// seedRange is a range of consecutive seeds. It is written as a count, which starts at seed 1, or as an inclusive
// range: A..B or A-B.
type seedRange struct {
	first, count uint64
}

// UnmarshalText parses a count or a range.
func (r *seedRange) UnmarshalText(text []byte) error {
	s := string(text)
	from, to, isRange := strings.Cut(s, "..")
	if !isRange {
		from, to, isRange = strings.Cut(s, "-")
	}
	if !isRange {
		n, err := parseSeed(s)
		if err != nil {
			return fmt.Errorf("seeds %q: expected a count such as 1000, or a range such as 1..1000", s)
		}
		if n == 0 {
			return fmt.Errorf("seeds %q: expected at least one seed", s)
		}
		*r = seedRange{first: 1, count: n}
		return nil
	}
	a, errA := parseSeed(from)
	b, errB := parseSeed(to)
	switch {
	case errA != nil:
		return fmt.Errorf("seeds %q: %w", s, errA)
	case errB != nil:
		return fmt.Errorf("seeds %q: %w", s, errB)
	case b < a:
		return fmt.Errorf("seeds %q: the range ends before it begins; did you mean %d..%d?", s, b, a)
	case b-a == math.MaxUint64:
		return fmt.Errorf("seeds %q: the range has all seeds; the largest possible range has one less", s)
	}
	*r = seedRange{first: a, count: b - a + 1}
	return nil
}

// or returns the range, or the first n seeds if it is empty.
func (r seedRange) or(n uint64) seedRange {
	if r.count == 0 {
		return seedRange{first: 1, count: n}
	}
	return r
}

// String returns the range with both ends, or just the seed if the range has only one.
func (r seedRange) String() string {
	if r.count == 1 {
		return strconv.FormatUint(r.first, 10)
	}
	return r.bounds()
}

// bounds returns the range with both ends, in the form accepted by --seeds.
func (r seedRange) bounds() string { return fmt.Sprintf("%d..%d", r.first, r.first+(r.count-1)) }

// shard is one part of a campaign, written I/N with I from 1 to N.
type shard struct{ index, of uint64 }

func (s shard) String() string { return fmt.Sprintf("%d/%d", s.index, s.of) }

// UnmarshalText parses I/N, or /N if I is to be taken from the environment.
func (s *shard) UnmarshalText(text []byte) error {
	i, n, ok := strings.Cut(string(text), "/")
	of, errN := strconv.ParseUint(n, 10, 32)
	index, errI := uint64(0), error(nil)
	if i != "" {
		index, errI = strconv.ParseUint(i, 10, 32)
	}
	switch {
	case !ok || errI != nil || errN != nil:
		return fmt.Errorf("shard %q: expected I/N such as 1/4, or /N", text)
	case of == 0 || index > of || i != "" && index == 0:
		return fmt.Errorf("shard %q: expected I from 1 to N", text)
	}
	*s = shard{index: index, of: of}
	return nil
}

// fromEnvironment returns s if it is complete. If not, it reads the shard from the environment variables of a Slurm job
// array or a Bazel test. An indexed Kubernetes job provides only the index, so its variable is used only if s has the
// number of shards.
func (s shard) fromEnvironment(getenv func(string) string) (shard, error) {
	if s.index > 0 {
		return s, nil
	}
	for _, v := range []struct{ index, first, of string }{
		{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_COUNT"},
		{"TEST_SHARD_INDEX", "", "TEST_TOTAL_SHARDS"},
		{"JOB_COMPLETION_INDEX", "", ""},
	} {
		if getenv(v.index) == "" || v.of == "" && s.of == 0 {
			continue
		}
		number := func(name string, otherwise uint64) uint64 {
			n, err := strconv.ParseUint(getenv(name), 10, 32)
			if name == "" || err != nil {
				return otherwise
			}
			return n
		}
		out := shard{index: number(v.index, math.MaxUint32) - number(v.first, 0) + 1, of: s.of}
		if out.of == 0 {
			out.of = number(v.of, 0)
		}
		if out.of == 0 {
			return shard{}, fmt.Errorf("%s=%s: %s does not say of how many parts; --shard I/N selects the part to run", v.index, getenv(v.index), v.of)
		}
		if out.index == 0 || out.index > out.of {
			return shard{}, fmt.Errorf("%s=%s: not an index of %d parts; --shard I/N selects the part to run", v.index, getenv(v.index), out.of)
		}
		return out, nil
	}
	if s.of > 0 {
		return shard{}, fmt.Errorf("--shard /%d: the environment does not name a part: expected SLURM_ARRAY_TASK_ID, TEST_SHARD_INDEX or JOB_COMPLETION_INDEX", s.of)
	}
	return s, nil
}

// decimal formats a seed as a decimal string, because a JSON number cannot hold 64 bits.
func decimal(seed uint64) string { return strconv.FormatUint(seed, 10) }

func grouped(n uint64) string { return pretty.Count(n) }

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
func plural(n uint64, one, many string) string { return pretty.Plural(n, one, many) }
