// Package near suggests the intended name for a mistyped one in error messages.
//
//	fmt.Errorf("no scenario %q%s", name, near.Hint(name, known)) // no scenario "rollng"; did you mean rolling?
package near
