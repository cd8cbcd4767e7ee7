module github.com/durosim/durosim/internal/jsonbench

go 1.26

replace github.com/durosim/durosim => ../..

require (
	github.com/durosim/durosim v0.0.0-00010101000000-000000000000
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3
	github.com/goccy/go-json v0.12.0
	github.com/google/go-cmp v0.7.0
)

require github.com/Masterminds/semver/v3 v3.5.0 // indirect
