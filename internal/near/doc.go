// Package near guesses which name was meant by a mistyped one, for error messages.
//
//	fmt.Errorf("no scenario %q%s", name, near.Hint(name, known)) // no scenario "rollng"; did you mean rolling?
package near
