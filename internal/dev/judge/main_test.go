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

// TestSoundProduct checks that the judges that expect more than a verdict have no objection to the product as it is: with
// one, they are not asked about mutants.
func TestSoundProduct(t *testing.T) {
	for _, ask := range []func() (uint64, string, string){wrongStoresJudge, unsteadyJudge} {
		if _, _, objection := ask(); objection != "" {
			t.Error(objection)
		}
	}
}
