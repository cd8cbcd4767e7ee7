// Package rust contains the sources of the crate durosim, for programs that durosim builds around it.
package rust

import "embed"

// Sources are the manifest and the library of the crate, by their paths in this directory.
//
//go:embed Cargo.toml src/*.rs
var Sources embed.FS
