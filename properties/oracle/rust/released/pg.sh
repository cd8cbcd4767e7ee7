#!/usr/bin/env bash
# Checks the PostgreSQL provider of the released duroxide-pg with the contract's cases, with the oracle and with the
# incidents of its past, and prints what is known to be wrong with it, each with the shortest calls that show it. What is
# not known ends it with status 1. It starts a PostgreSQL of its own, on a socket in a temporary directory, as a user
# without privileges, and stops it. Needs Linux, Go, cargo and Debian's package postgresql, which it installs if it is root.
#
#     pg.sh [--seeds N]      N is 200 if not given
set -euo pipefail
cd "$(dirname "$0")"

seeds=200
while [ $# -gt 0 ]; do
  case $1 in
    --seeds) seeds=${2:?--seeds: a number is missing}; shift 2 ;;
    *) echo "usage: pg.sh [--seeds N]" >&2; exit 2 ;;
  esac
done
case $seeds in '' | 0 | *[!0-9]*) echo "--seeds $seeds: expected a number of seeds" >&2; exit 2 ;; esac

newest() { find /usr/lib/postgresql -name initdb -path '*/bin/*' 2>/dev/null | sort -V | tail -n 1; }
if [ -z "$(newest)" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get install --yes --no-install-recommends postgresql >/dev/null 2>&1 ||
    { apt-get update && apt-get install --yes --no-install-recommends postgresql; } >/dev/null
fi
if [ -z "$(newest)" ]; then
  echo "There is no PostgreSQL below /usr/lib/postgresql. On Debian and Ubuntu: sudo apt-get install postgresql" >&2
  exit 2
fi
bin=$(dirname "$(newest)")

tmp=$(mktemp -d)
chmod 755 "$tmp"
mkdir "$tmp/pg"
# PostgreSQL refuses to run as root.
as=()
if [ "$(id -u)" = 0 ]; then
  chown postgres "$tmp/pg"
  as=(runuser -u postgres --)
fi
# begin VARIABLE=VALUE... starts a server without data with these variables, end kills it. What a killed server has left
# is not used again: to recover it can take longer than anybody waits.
begin() {
  (cd "$tmp" && "${as[@]}" rm -rf "$tmp/pg/data" && "${as[@]}" "$bin/initdb" --pgdata "$tmp/pg/data" --username durosim --auth trust --no-sync >/dev/null)
  (cd "$tmp" && "${as[@]}" env "$@" "$bin/pg_ctl" --pgdata "$tmp/pg/data" --log "$tmp/pg/log" --wait \
    --options "-c listen_addresses='' -c fsync=off -k $tmp/pg" start >/dev/null) || { cat "$tmp/pg/log" >&2; exit 2; }
}
end() { (cd "$tmp" && "${as[@]}" "$bin/pg_ctl" --pgdata "$tmp/pg/data" --mode immediate stop >/dev/null 2>&1); }
trap 'end || true; rm -rf "$tmp"' EXIT
url="postgres://durosim@localhost/postgres?host=$tmp/pg"

(cd ../../../.. && go build -o "$tmp/simrun" ./cmd/simrun)
target=${CARGO_TARGET_DIR:-$PWD/../target}
cargo build --quiet --release --locked --target-dir "$target" --manifest-path duroxide-pg/Cargo.toml
program=("$target/release/postgres-0-1-38" "$url")
check() { "$tmp/simrun" "$1" --keep-going --known known-pg.toml --timeout 1m "${@:2}"; }

printf '=== duroxide-pg 0.1.38 on %s\n\n' "$("$bin/postgres" --version)"
# The clock of the server stands still, so that the only time is the caller's, which the checks set.
"${CC:-cc}" -shared -fPIC -o "$tmp/still.so" duroxide-pg/still.c
begin LD_PRELOAD="$tmp/still.so"
check conformance -- "${program[@]}"
printf '\n'
check oracle --seeds "$seeds" --stories -- "${program[@]}" --whole-messages
printf '\n'
# What fails at each call hides what comes behind it. So once more without that, and with damaged messages.
without=(--without append_with_execution --without latest_execution_id --without read_history)
check oracle --seeds "$seeds" -- "${program[@]}" --whole-messages "${without[@]}"
printf '\n'
check oracle --seeds "$((seeds / 4 + 1))" --stories -- "${program[@]}" "${without[@]}"
end

printf '\n=== overlapping calls and the incidents of duroxide-pg, in real time\n\n'
begin
check conformance --run '#overlap' -- "${program[@]}" --real-clock
DUROSIM_POSTGRES=$url cargo test --quiet --release --locked --target-dir "$target" --manifest-path duroxide-pg/Cargo.toml
