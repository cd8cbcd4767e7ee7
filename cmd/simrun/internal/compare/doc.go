// Package compare runs one scenario under several strategies with the same seeds and puts what each costs side by side:
//
//	r, err := compare.Run(compare.Config{Scenario: s, First: 1, Seeds: 20})
//	fmt.Print(r.Text())
//
// A row of the result is a strategy; the last sentence says which is best here, and why.
package compare
