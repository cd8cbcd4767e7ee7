package commandline_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/internal/commandline"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{"", nil},
		{"  python3\tprovider.py ", []string{"python3", "provider.py"}},
		{`'a b' "c 'd'" e\ f '' g"h"i`, []string{"a b", "c 'd'", "e f", "", "ghi"}},
		{commandline.Join("sh", "-c", `echo 'it is'`, ""), []string{"sh", "-c", `echo 'it is'`, ""}},
	} {
		got, err := commandline.Split(c.line)
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.line, diff)
		}
	}
	for _, line := range []string{"'a", `a "b`, `a\`} {
		if got, err := commandline.Split(line); err == nil {
			t.Errorf("%s: %q", line, got)
		}
	}
}
