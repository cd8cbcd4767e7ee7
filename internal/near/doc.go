// Package near guesses which name was meant by a mistyped one, for error messages.
package near
