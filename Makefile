# make check: what .ci/run does before the long campaigns.  make golden: rewrite expected outputs; read the diff.

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: check golden fuzz bench mutants mutants-of-checkers

check:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "not formatted: gofmt -w ."; exit 1; }
	go mod tidy -diff
	go vet ./...
	go run $(STATICCHECK) ./...
	go test ./...
	go -C internal/dev vet ./...
	go -C internal/dev test -count=1 ./...
	go test -race ./...

# -rewrite and -update are known to these packages only.
golden:
	go test ./engine/machine ./engine/replay ./memprovider ./properties/oracle ./properties/oracle/search ./properties/internal/safety ./properties/internal/model ./properties/internal/monitor ./properties/internal/secondjudge -rewrite
	go -C internal/dev test -count=1 ./selfcheck ./judge -rewrite
	go -C internal/dev test -count=1 ./pages -run TestGeneratedLists -update

fuzz:
	go test ./engine -run '^$$' -fuzz '^FuzzDecodeEvent$$' -fuzztime 60s
	go test ./engine -run '^$$' -fuzz '^FuzzDecodeWorkItem$$' -fuzztime 60s
	go test ./engine -run '^$$' -fuzz '^FuzzParseRange$$' -fuzztime 60s
	go test ./sim -run '^$$' -fuzz '^FuzzParseKey$$' -fuzztime 60s
	go test ./sim/scenario -run '^$$' -fuzz '^FuzzParse$$' -fuzztime 60s
	go test . -run '^$$' -fuzz '^FuzzPlan$$' -fuzztime 60s

# Which small changes of the store, of a turn, of a node and of the codec somebody notices, SAMPLE of them, another one for
# each DRAW; and which of the checkers their tests notice.
SAMPLE ?= 160
mutants: DRAW ?= aspen
mutants-of-checkers: DRAW ?= 77
mutants:
	nice go -C internal/dev run ./simdev mutants -sample $(SAMPLE) -draw "$(DRAW)" -deep 2 -reasoned -out ../../docs/kill-matrix.md $(MUTANTS)
mutants-of-checkers:
	nice go -C internal/dev run ./simdev mutants -checkers -sample 132 -draw "$(DRAW)" -out ../../docs/kill-matrix-checkers.md $(MUTANTS)

bench:
	go test ./... -run '^$$' -bench . -benchmem
