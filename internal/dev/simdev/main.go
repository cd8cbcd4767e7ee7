// Command simdev holds what only durosim's own developers run:
//
//	go -C internal/dev run ./simdev mutants -sample 20 memprovider
//	go -C internal/dev run ./simdev relations rolling-upgrade -faults full
//
// Each verb prints its flags with -h.
package main

import (
	"fmt"
	"os"

	"github.com/durosim/durosim/internal/dev/matrix"
)

func main() {
	verbs := map[string]func(args []string) int{"mutants": matrix.Main, "relations": relations}
	if len(os.Args) > 1 {
		if verb := verbs[os.Args[1]]; verb != nil {
			os.Exit(verb(os.Args[2:]))
		}
	}
	fmt.Fprintln(os.Stderr, `usage: simdev mutants|relations [flags]

  mutants     try small changes of the sources, and list who notices them
  relations   compare runs with twins whose plans differ in ways that must not matter`)
	os.Exit(2)
}
