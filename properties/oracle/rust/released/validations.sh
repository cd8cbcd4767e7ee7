#!/usr/bin/env bash
# Runs the validations that releases of duroxide offer to authors of providers against "simrun serve": all of them must
# pass, and those that kills.txt names must fail on the store with that planted bug. Needs Go and cargo.
#
#     validations.sh [RELEASE...]             0.1.26 and 0.1.32 if not given; seconds, and what compiling takes
#     validations.sh --update [RELEASE...]    writes kills.txt: runs all of them on each bug, which takes minutes
#
# Columns of kills.txt: a bug, and for each release a validation that fails, or a dash if all pass. What fails stays there.
set -euo pipefail
cd "$(dirname "$0")"

update=
releases=()
for argument in "$@"; do
  case $argument in
    --update) update=yes ;;
    0.1.26 | 0.1.32) releases+=("$argument") ;;
    *) echo "usage: validations.sh [--update] [0.1.26|0.1.32]..." >&2; exit 2 ;;
  esac
done
[ ${#releases[@]} -gt 0 ] || releases=(0.1.26 0.1.32)

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
if [ -z "${DUROSIM_SIMRUN:-}" ]; then
  (cd ../../../.. && go build -o "$tmp/simrun" ./cmd/simrun)
  export DUROSIM_SIMRUN=$tmp/simrun
fi
target=${CARGO_TARGET_DIR:-$PWD/../target}
bugs=$(cut -d ' ' -f 1 ../../../conformance/testdata/bugs.txt)
declare -A column=([0.1.26]=2 [0.1.32]=3)

# known RELEASE BUG prints what kills.txt says.
known() { awk -v bug="$2" -v column="${column[$1]}" '$1 == bug { print $column }' kills.txt; }

# killer PROGRAM BUG KNOWN prints a validation that fails on a store with the bug: the known one, the first, or a dash.
killer() {
  local status=0
  case $3 in '' | -) ;; *)
    "$1" --bug "$2" "$3" >"$tmp/out" || status=$?
    [ $status = 0 ] || { echo "$3"; return; }
  esac
  "$1" --bug "$2" --first >"$tmp/out" || status=$?
  case $status in
    0) echo - ;;
    1) sed -n 's/^FAILED \([^:]*\):.*/\1/p' "$tmp/out" | head -n 1 ;;
    *) cat "$tmp/out" >&2; return 1 ;;
  esac
}

failed=0
for release in "${releases[@]}"; do
  cargo build --quiet --release --locked --target-dir "$target" --manifest-path "duroxide-$release/Cargo.toml" --bin "validations-${release//./-}"
  program=$target/release/validations-${release//./-}
  printf 'duroxide %s on simrun serve: ' "$release"
  "$program" || failed=1
  if [ -n "$update" ]; then
    for bug in $bugs; do
      by=$(killer "$program" "$bug" "$(known "$release" "$bug")")
      echo "$bug $by" | tee -a "$tmp/$release"
    done
    continue
  fi
  killed=0
  for bug in $bugs; do
    by=$(known "$release" "$bug")
    [ -n "$by" ] || { echo "kills.txt: no row for $bug: validations.sh --update"; failed=1; continue; }
    [ "$by" != - ] || continue
    status=0
    "$program" --bug "$bug" "$by" >"$tmp/out" || status=$?
    if [ $status = 1 ]; then killed=$((killed + 1)); else cat "$tmp/out"; echo "$bug: $by does not fail"; failed=1; fi
  done
  echo "$killed of $(wc -l <<<"$bugs") planted bugs are noticed"
done

if [ -n "$update" ]; then
  for bug in $bugs; do
    row=$bug
    for release in 0.1.26 0.1.32; do
      if [ -f "$tmp/$release" ]; then
        row="$row $(awk -v bug="$bug" '$1 == bug { print $2 }' "$tmp/$release")"
      else
        row="$row $(known "$release" "$bug")"
      fi
    done
    echo "$row"
  done >"$tmp/kills.txt"
  mv "$tmp/kills.txt" kills.txt
fi
exit $failed
