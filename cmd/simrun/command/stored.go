package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/scenario"
)

// storeFailures shrinks the first failing seed of each property, stores the result in dir, and returns the file names.
// Each file is written completely or not at all.
func storeFailures(dir string, s *subject, sum *campaign.Summary) (files []string, err error) {
	if len(sum.Properties) == 0 {
		return nil, nil
	}
	var seeds []uint64
	for _, p := range sum.Properties {
		asked := "" // empty means the most important violation of the seed
		if p.First.Expectation != "" {
			asked = p.First.Rule()
		} else if slices.Contains(seeds, p.FirstSeed) {
			continue
		} else {
			seeds = append(seeds, p.FirstSeed)
		}
		entry, err := s.entry(p.FirstSeed, asked)
		if err != nil {
			return files, err
		}
		path, err := storeEntry(dir, entry)
		if err != nil {
			return files, err
		}
		files = append(files, path)
	}
	return files, nil
}

// checkOut returns an error if the --out directory is not writable. It is called before the campaign and does not
// create the directory.
func checkOut(dir string) error { return checkDir("--out", dir) }

// checkDir is like checkOut but for any flag.
func checkDir(flag, dir string) error {
	if dir == "" {
		return nil
	}
	there := filepath.Clean(dir)
	for {
		info, err := os.Stat(there)
		switch {
		case err == nil && !info.IsDir():
			return fmt.Errorf("%s %s: %s is not a directory", flag, dir, there)
		case err == nil:
			return tryOut(flag, dir, there)
		case !errors.Is(err, fs.ErrNotExist) || filepath.Dir(there) == there:
			return fmt.Errorf("%s: %w", flag, err)
		}
		there = filepath.Dir(there)
	}
}

// tryOut creates an empty file in the existing directory there, and removes the file.
func tryOut(flag, dir, there string) error {
	tmp, err := os.CreateTemp(there, ".simrun-*")
	if err != nil {
		return fmt.Errorf("%s %s: nothing can be written to %s: %w", flag, dir, there, err)
	}
	return errors.Join(tmp.Close(), os.Remove(tmp.Name()))
}

// storeEntry writes a stored run to directory dir and returns the file's path.
func storeEntry(dir string, entry *scenario.Entry) (path string, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", fmt.Errorf("--out: %w", err)
	}
	path = filepath.Join(dir, entry.Name())
	if err := writeWhole(path, entry.Format()); err != nil {
		return "", fmt.Errorf("--out: %w", err)
	}
	return path, nil
}

// entry runs seed again and returns a stored run with the smallest plan that violates rule asked. If asked is empty,
// pick chooses the rule.
func (s *subject) entry(seed uint64, asked string) (*scenario.Entry, error) {
	cfg, err := s.config(seed)
	if err != nil {
		return nil, err
	}
	concrete, err := s.record(cfg)
	if err != nil {
		return nil, err
	}
	result, err := s.runConcrete(*concrete)
	if err != nil {
		return nil, err
	}
	violation, ok := pick(result, asked, s.bugs())
	if !ok {
		return nil, &crash{fmt.Errorf("seed %d violates no property when its choices are replayed", seed)}
	}
	small, err := durosim.Shrink(*concrete, s.shrinkOptions(violation))
	if err != nil {
		return nil, err
	}
	return s.shrunkEntry(seed, small), nil
}

// writeWhole writes a file atomically: it writes a temporary file and renames it to path.
func writeWhole(path string, data []byte) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".simrun-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp.Name()) // the first error is the one to return
		}
	}()
	if _, err = tmp.Write(data); err != nil {
		_ = tmp.Close()
		return err
	}
	if err = tmp.Chmod(0o644); err != nil {
		_ = tmp.Close()
		return err
	}
	if err = tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
