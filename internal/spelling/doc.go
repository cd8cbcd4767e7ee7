// Package spelling adds spelling suggestions to error messages. It finds the known name that is closest to a mistyped one.
//
//	fmt.Errorf("no scenario %q%s", name, spelling.Hint(name, known)) // no scenario "rollng"; did you mean rolling?
package spelling
