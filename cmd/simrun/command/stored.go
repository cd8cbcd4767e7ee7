package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

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

// checkDir returns an error if the directory of a flag, such as --out, is not writable. It is called before the campaign
// and does not create the directory.
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
			w, err := newWhole(filepath.Join(there, "file"))
			if err != nil {
				return fmt.Errorf("%s %s: nothing can be written to %s: %w", flag, dir, there, err)
			}
			w.discard()
			return nil
		case !errors.Is(err, fs.ErrNotExist) || filepath.Dir(there) == there:
			return fmt.Errorf("%s: %w", flag, err)
		}
		there = filepath.Dir(there)
	}
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
	small, _, err := s.smallest(*concrete, asked, 0, io.Discard)
	switch {
	case err != nil:
		return nil, err
	case small == nil:
		return nil, &crash{fmt.Errorf("seed %d violates no property when its choices are replayed", seed)}
	}
	return s.shrunkEntry(seed, small), nil
}

// whole is a file that has a temporary name until it is complete. What is no regular file, such as a device or a pipe,
// stays what it is, and is written to.
type whole struct {
	*bufio.Writer
	path string
	tmp  *os.File // the file itself if that is not a regular one
}

func newWhole(path string) (*whole, error) {
	switch info, err := os.Stat(path); {
	case err != nil:
	case info.IsDir():
		return nil, &fs.PathError{Op: "create", Path: path, Err: errors.New("is a directory")}
	case !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		return &whole{bufio.NewWriter(f), path, f}, nil
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".simrun-*")
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: path, Err: errors.Unwrap(err)} // its own names the temporary file
	}
	return &whole{bufio.NewWriter(tmp), path, tmp}, nil
}

// keep gives the file its name.
func (w *whole) keep() error {
	if w.tmp.Name() == w.path {
		return errors.Join(w.Flush(), w.tmp.Close())
	}
	if err := errors.Join(w.Flush(), w.tmp.Chmod(0o644), w.tmp.Close()); err != nil {
		return err
	}
	if err := os.Rename(w.tmp.Name(), w.path); err != nil {
		return &fs.PathError{Op: "create", Path: w.path, Err: errors.Unwrap(err)}
	}
	return nil
}

// discard removes the file unless it was kept. If that fails, a hidden file is left behind, as after a crash.
func (w *whole) discard() {
	_ = w.tmp.Close()
	if w.tmp.Name() != w.path {
		_ = os.Remove(w.tmp.Name())
	}
}

// writeWhole writes a file as a whole or not at all.
func writeWhole(path string, data []byte) error {
	w, err := newWhole(path)
	if err != nil {
		return err
	}
	defer w.discard()
	_, err = w.Write(data)
	return errors.Join(err, w.keep())
}
