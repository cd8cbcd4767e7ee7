#!/usr/bin/env bash
# Runs the tests of the reports on the released crates, where each must fail as reports.toml says, and on copies of the
# crates with all patches, where each must pass. Needs cargo; for duroxide-pg Debian's package postgresql, which it installs
# if it is root, and starts on a socket in a temporary directory, as a user without privileges.
#
#     run.sh [--each | --own] [NAME...]     all reports if none is named; minutes, most of them compiling
#
# --each also runs each report's tests with its own patch alone. --own runs the crate's own tests of providers, turns and
# histories on duroxide with all patches, which takes a quarter of an hour.
set -euo pipefail
cd "$(dirname "$0")"

each='' own=''
case ${1:-} in --each) each=yes; shift ;; --own) own=yes; shift ;; -*) echo "usage: run.sh [--each | --own] [NAME...]" >&2; exit 2 ;; esac
tmp=$(mktemp -d)
chmod 755 "$tmp"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$tmp/target} RUST_BACKTRACE=0 RUST_LOG=off

# One line for each test: the report, its part, its patch, the test, and what its panic says, separated by tabs.
awk -F' = ' '
  function strip(s) { gsub(/^[\["'\'']+|[\]"'\'']+$/, "", s); return s }
  function flush(  i, n, t, m, r) {
    if (name == "") return
    n = split(tests, t, /", "/); m = split(reds, r, /", "/)
    for (i = 1; i <= n; i++) printf "%s\t%s\t%s\t%s\t%s\n", name, part, patch ? patch : name, t[i], i <= m ? r[i] : r[m]
  }
  /^\[\[report\]\]/ { flush(); name = patch = "" }
  /^name = / { name = strip($2) }
  /^part = / { part = strip($2) }
  /^patch = / { patch = strip($2) }
  /^tests = / { tests = strip($2) }
  /^red = / { sub(/^red = /, ""); reds = /^\[/ ? strip($0) : substr($0, 2, length($0) - 2) }
  END { flush() }' reports.toml >"$tmp/all"
for name in "$@"; do
  grep -q "^$name	" "$tmp/all" || { echo "no report $name in reports.toml" >&2; exit 2; }
  grep "^$name	" "$tmp/all" >>"$tmp/chosen"
done
[ $# -gt 0 ] || cp "$tmp/all" "$tmp/chosen"

began=''
end() { [ -z "$began" ] || (cd "$tmp" && "${as[@]}" "$bin/pg_ctl" --pgdata "$tmp/pg/data" --mode immediate stop >/dev/null 2>&1) || true; }
trap 'end; rm -rf "$tmp"' EXIT

postgres() {
  newest() { find /usr/lib/postgresql -name initdb -path '*/bin/*' 2>/dev/null | sort -V | tail -n 1; }
  if [ -z "$(newest)" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get install --yes --no-install-recommends postgresql >/dev/null 2>&1 ||
      { apt-get update && apt-get install --yes --no-install-recommends postgresql; } >/dev/null
  fi
  [ -n "$(newest)" ] || { echo "There is no PostgreSQL below /usr/lib/postgresql. On Debian and Ubuntu: sudo apt-get install postgresql" >&2; exit 2; }
  bin=$(dirname "$(newest)")
  as=()
  mkdir "$tmp/pg"
  if [ "$(id -u)" = 0 ]; then chown postgres "$tmp/pg"; as=(runuser -u postgres --); fi
  (cd "$tmp" && "${as[@]}" "$bin/initdb" --pgdata "$tmp/pg/data" --username durosim --auth trust --no-sync >/dev/null)
  (cd "$tmp" && "${as[@]}" "$bin/pg_ctl" --pgdata "$tmp/pg/data" --log "$tmp/pg/log" --wait --options "-c listen_addresses='' -c fsync=off -k $tmp/pg" start >/dev/null)
  began=yes
  export DUROSIM_POSTGRES="postgres://durosim@localhost/postgres?host=$tmp/pg"
}

# source CRATE prints where cargo has unpacked a released crate.
source_of() {
  cargo metadata --locked --format-version 1 --manifest-path "$1/Cargo.toml" | grep -o '"manifest_path":"[^"]*/'"$1"'-[0-9.]*/Cargo.toml"' | head -n 1 | cut -d'"' -f4 | xargs dirname
}

# patched CRATE PATCH... copies a crate's source and applies patches.
patched() {
  rm -rf "$tmp/$1" "$tmp/tests-$1"
  cp -r "$(source_of "$1")" "$tmp/$1"
  cp -r "$1" "$tmp/tests-$1"
  printf '\n[patch.crates-io]\n%s = { path = "%s" }\n' "$1" "$tmp/$1" >>"$tmp/tests-$1/Cargo.toml"
  local patch
  for patch in "${@:2}"; do
    patch --quiet --strip 1 --directory "$tmp/$1" --no-backup-if-mismatch <"patches/$patch.patch" || { echo "patches/$patch.patch cannot be applied" >&2; exit 1; }
  done
}

# try DIRECTORY LINES runs the tests of these lines; their results are in $tmp/out.
try() {
  cut -f 4 "$2" >"$tmp/names"
  mapfile -t names <"$tmp/names"
  # The copies have another lock file: their crate is a path.
  cargo test --no-fail-fast --manifest-path "$1/Cargo.toml" --test "*" -- --exact "${names[@]}" control_nothing_stands_first control_an_orchestration_completes >"$tmp/out" 2>&1 || true
  grep -q '^test result' "$tmp/out" || { cat "$tmp/out"; echo "the tests do not compile" >&2; exit 1; }
}

failed=0
wrong() { printf 'WRONG %s: %s\n' "$1" "$2"; failed=1; }
passes() { grep -q "^test $1 \.\.\. ok$" "$tmp/out"; }

# red and green judge what try has left.
red() {
  local name part patch test says
  while IFS=$'\t' read -r name part patch test says; do
    if passes "$test"; then
      wrong "$name" "$test passes on the release"
    elif ! awk -v test="$test" '/^---- / { on = $2 == test } on' "$tmp/out" | grep -qF -- "$says" && ! grep -A 2 "^thread '$test'" "$tmp/out" | grep -qF -- "$says"; then
      wrong "$name" "$test does not fail with: $says"
    fi
  done <"$1"
}
green() {
  local name part patch test says
  while IFS=$'\t' read -r name part patch test says; do
    passes "$test" || wrong "$name" "$test fails with $2"
  done <"$1"
}

for crate in duroxide duroxide-pg; do
  case $crate in duroxide) parts='runtime|sqlite' ;; *) parts=postgres ;; esac
  awk -F'\t' -v parts="^($parts)$" '$2 ~ parts' "$tmp/chosen" >"$tmp/lines"
  [ -s "$tmp/lines" ] || continue
  [ $crate = duroxide ] || postgres
  awk -F'\t' -v parts="^($parts)$" '$2 ~ parts && !seen[$3]++ { print $3 }' "$tmp/all" >"$tmp/patches"
  mapfile -t patches <"$tmp/patches"
  cargo fetch --quiet --locked --manifest-path "$crate/Cargo.toml"
  try "$crate" "$tmp/lines"
  grep -qE '^test control_[a-z_]+ \.\.\. ok$' "$tmp/out" || wrong "$crate" "the control fails: nothing is shown"
  red "$tmp/lines"
  patched "$crate" "${patches[@]}"
  try "$tmp/tests-$crate" "$tmp/lines"
  green "$tmp/lines" "all patches"
  [ $failed = 1 ] || printf '%s: %d tests of %d reports, red on the release, green with %d patches\n' "$crate" "$(wc -l <"$tmp/lines")" "$(cut -f 1 "$tmp/lines" | sort -u | wc -l)" ${#patches[@]}
  if [ -n "$own" ] && [ $crate = duroxide ]; then
    (cd "$tmp" && CARGO_PROFILE_DEV_DEBUG=0 cargo test --no-fail-fast --features sqlite,provider-test,test-hooks --manifest-path duroxide/Cargo.toml $(printf -- '--test %s ' \
      sqlite_provider_validations cancellation_tests cancellation_corner_cases continue_as_new_tests can_abandon_failure kv_store_tests \
      poison_message_tests queue_event_tests races_tests reliability_tests recovery_tests unregistered_backoff_tests worker_reliability_test \
      lock_timeout_tests capability_filtering_tests e2e_samples futures_tests replay_engine_tests) -- --skip ms18_lazy_queue_variant_pins_known_d2_replay_ordering_defect >"$tmp/out" 2>&1) ||
      { grep -E '^(test .*FAILED|error)' "$tmp/out"; wrong duroxide "its own tests fail with all patches"; }
    grep '^test result' "$tmp/out" | awk '{ n += $4 } END { print n " of its own tests pass with all patches" }'
  fi
  [ -n "$each" ] || continue
  while read -r patch; do
    awk -F'\t' -v patch="$patch" '$3 == patch' "$tmp/lines" >"$tmp/some"
    [ -s "$tmp/some" ] || continue
    patched "$crate" "$patch"
    try "$tmp/tests-$crate" "$tmp/some"
    green "$tmp/some" "its own patch alone"
    echo "$patch: tried alone"
  done <"$tmp/patches"
done
[ $failed = 0 ] || { echo "see WRONG above" >&2; exit 1; }
