package mutate

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// Build compiles a program with its mutants or, if test is set, a package's tests. It drops any mutant that does not
// compile, and all others on the same lines. It returns the remaining mutants.
func Build(root, dir, output, what string, test bool, packages []*Package, mutants []*Mutant) ([]*Mutant, error) {
	const most = 20
	for range most {
		overlay, err := Write(dir, packages, mutants)
		if err != nil {
			return nil, err
		}
		args := []string{"build"}
		if test {
			args = []string{"test", "-c", "-vet=off"}
		}
		c := exec.Command("go", append(args, "-gcflags=-e", "-overlay", overlay, "-o", output, what)...)
		c.Dir = root
		out, err := c.CombinedOutput()
		if err == nil {
			return mutants, nil
		}
		bad := faulty(out)
		left := slices.DeleteFunc(slices.Clone(mutants), func(m *Mutant) bool { return bad[m.File+":"+strconv.Itoa(m.Line)] })
		if len(left) == len(mutants) {
			return nil, fmt.Errorf("go build %s: %w\n%s", what, err, out)
		}
		mutants = left
	}
	return nil, fmt.Errorf("go build %s: mutants that do not compile, after %d attempts", what, most)
}

var message = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):\d+: `)

// faulty returns the lines with compiler errors.
func faulty(out []byte) map[string]bool {
	bad := map[string]bool{}
	for _, m := range message.FindAllStringSubmatch(string(out), -1) {
		bad[filepath.Base(m[1])+":"+m[2]] = true
	}
	return bad
}
