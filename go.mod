module github.com/durosim/durosim

go 1.25.0

require (
	github.com/BurntSushi/toml v1.6.0
	github.com/Masterminds/semver/v3 v3.5.0
	github.com/anishathalye/porcupine v1.3.1
	github.com/cockroachdb/datadriven v1.0.3
	github.com/rogpeppe/go-internal v1.16.0
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	golang.org/x/exp v0.0.0-20260410095643-746e56fc9e2f
	pgregory.net/rapid v1.3.0
)

require (
	github.com/pmezard/go-difflib v1.0.0 // indirect
	golang.org/x/text v0.14.0 // indirect
	golang.org/x/tools v0.44.0 // indirect
)

require (
	github.com/alecthomas/kong v1.17.0
	github.com/google/go-cmp v0.7.0
	golang.org/x/sys v0.46.0 // indirect
	golang.org/x/term v0.44.0
)
