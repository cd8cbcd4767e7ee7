#!/usr/bin/env bash
# Checks the SQLite providers of released duroxide, in memory and in files, with the contract's cases and the oracle, and
# prints what is known to be wrong with them, each with the shortest calls that show it. What is not known ends it with
# status 1. Needs Go and cargo.
#
#     check.sh [--seeds N] [--memory] [RELEASE...]      N is 1000 and the releases are 0.1.26 and 0.1.32 if not given
#
# With --memory it leaves out files.
set -euo pipefail
cd "$(dirname "$0")"

seeds=1000
releases=()
places=("" --file)
while [ $# -gt 0 ]; do
  case $1 in
    --seeds) seeds=${2:?--seeds: a number is missing}; shift 2 ;;
    --memory) places=(""); shift ;;
    0.1.*) [ -d "duroxide-$1" ] || { echo "no package for release $1" >&2; exit 2; }; releases+=("$1"); shift ;;
    *) echo "usage: check.sh [--seeds N] [--memory] [RELEASE...]" >&2; exit 2 ;;
  esac
done
[ ${#releases[@]} -gt 0 ] || releases=(0.1.26 0.1.32)
case $seeds in '' | 0 | *[!0-9]*) echo "--seeds $seeds: expected a number of seeds" >&2; exit 2 ;; esac

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
(cd ../../../.. && go build -o "$tmp/simrun" ./cmd/simrun)
target=${CARGO_TARGET_DIR:-$PWD/../target}

check() { "$tmp/simrun" "$1" --keep-going --known known.toml --timeout 1m "${@:2}"; }
fewer=$((seeds / 5 + 1))
# Freedoms of the contract that are defects here.
deny=(--deny F4 --deny F9 --deny F21 --deny F23 --deny X1 --deny X5)
for release in "${releases[@]}"; do
  cargo build --quiet --release --locked --target-dir "$target" --manifest-path "duroxide-$release/Cargo.toml"
  program=$target/release/sqlite-${release//./-}
  for where in "${places[@]}"; do
    printf '\n=== duroxide %s, %s\n\n' "$release" "${where:-in memory}"
    check conformance -- "$program" $where
    printf '\n'
    # Damaged messages are lost; then nothing that follows is as it should be. So first without them.
    check oracle --seeds "$seeds" -- "$program" $where --whole-messages
    printf '\n'
    check oracle --seeds "$fewer" --stories "${deny[@]}" -- "$program" $where --whole-messages
    printf '\n'
    check oracle --seeds "$fewer" --stories -- "$program" $where
  done
done
