// Package compare runs one scenario under several strategies, with the same seeds, and tabulates what each strategy
// costs:
//
//	r, err := compare.Run(upgrade.Config{Scenario: s, Builds: builds, First: 1, Seeds: 20})
//	fmt.Print(r.Text())
//
// Each row of the result describes one strategy. A final sentence names the best strategy for this scenario and says
// why.
package compare
