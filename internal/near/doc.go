// Package near adds spelling suggestions to error messages. It finds the known name that is closest to a mistyped one.
//
//	fmt.Errorf("no scenario %q%s", name, near.Hint(name, known)) // no scenario "rollng"; did you mean rolling?
package near
