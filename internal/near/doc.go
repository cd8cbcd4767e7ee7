// Package near guesses the intended name behind a mistyped one, for error messages.
//
//	fmt.Errorf("no scenario %q%s", name, near.Hint(name, known)) // no scenario "rollng"; did you mean rolling?
package near
