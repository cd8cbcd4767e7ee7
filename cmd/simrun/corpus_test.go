package main

import (
	"bytes"
	"path/filepath"
	"testing"
)

// TestCorpus replays every plan that once found something. A drifted digest is a notice, a drifted verdict fails.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "seeds", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no stored runs in testdata/seeds")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var out, errs bytes.Buffer
			if status := run([]string{"replay", "--json", file}, &out, &errs); status != exitOK {
				t.Errorf("exit status %d\n%s%s", status, &out, &errs)
			}
		})
	}
}
