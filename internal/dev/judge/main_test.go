package main

import (
	"flag"
	"os"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the expected texts")

// compare compares a text with the one in testdata.
func compare(t *testing.T, name, got string) {
	t.Helper()
	file := "testdata/" + name + ".txt"
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || got != string(want) {
		t.Errorf("%v: another text than %s, which go test -rewrite writes:\n%s", err, file, got)
	}
}
