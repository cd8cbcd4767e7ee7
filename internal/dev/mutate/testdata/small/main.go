// Command small is the subject of a mutation test.
package main

import "fmt"

type pair struct{ a, b int }

func sub(a, b int) int { return a - b }

func main() {
	p := pair{3, 2}
	n := 0
	if p.a > 3 || p.b > 1 {
		n = 10
	}
	for i := 0; i < p.b && i < 9; i++ {
		n += sub(p.a, p.b)
	}
	const limit = 1 + 2
	fmt.Println(n, limit)
}
