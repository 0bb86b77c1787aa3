#!/usr/bin/env bash
# A client of connect-actuator's REST interface with curl and jq: client.sh tour|set; see README.md.
set -euo pipefail

address=${ACTUATOR_ADDRESS:-127.0.0.1:9001}
base=http://$address/actuator
options=(--silent --show-error --max-time 30)
if [ -n "${ACTUATOR_CA:-}" ]; then
  base=https://$address/actuator
  options+=(--cacert "$ACTUATOR_CA")
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# In a file: on curl's command line, every user of the machine could read it.
if [ -n "${ACTUATOR_TOKEN:-}" ]; then
  (umask 077 && printf 'Authorization: Bearer %s' "$ACTUATOR_TOKEN" >"$scratch/token")
  options+=(--header "@$scratch/token")
fi

# call <path> [curl's options]: prints the answer, or what is wrong and fails.
call() {
  local status
  status=$(curl "${options[@]}" --output "$scratch/answer" --write-out '%{http_code}' "${@:2}" "$base/$1") || return
  if [ "$status" -ge 400 ]; then
    echo "$status $(jq -r '.message // .error // empty' "$scratch/answer" 2>/dev/null)" >&2
    return 1
  fi
  [ "$status" -eq 204 ] || cat "$scratch/answer"
}

# configure <logger> <level as JSON>: null inherits again.
configure() {
  call "loggers/$(encoded "$1")" --header 'Content-Type: application/json' --data "{\"configuredLevel\":$2}"
}

encoded() { jq -rn --arg text "$1" '$text | @uri'; }

# failure <command...>: says how a call fails that has to fail.
failure() {
  if "$@" >/dev/null 2>"$scratch/failure"; then
    echo "the call had to fail and did not" >&2
    return 1
  fi
  cat "$scratch/failure"
}

show_level() {
  local answer
  answer=$(call "loggers/$(encoded "$2")")
  echo "$1: $2 at $(jq -r .effectiveLevel <<<"$answer")"
}

tour() {
  local logger=${1:-shop.orders} user=${2:-alice} answer id
  answer=$(call health)
  echo "health: $(jq -r .status <<<"$answer")"
  answer=$(call loggers)
  echo "loggers: $(jq -r '"\(.loggers | length), ROOT at \(.loggers.ROOT.effectiveLevel)"' <<<"$answer")"
  configure "$logger" '"DEBUG"'
  show_level set "$logger"
  configure "$logger" null
  show_level clear "$logger"
  answer=$(failure configure "$logger" '"LOUD"')
  echo "no level: $answer"

  answer=$(call "sessions?username=$(encoded "$user")")
  echo "sessions: $(jq '.sessions | length' <<<"$answer") of $user"
  if id=$(jq -er '.sessions[0].id' <<<"$answer"); then
    answer=$(call "sessions/$id")
    echo "session: with $(jq -r '.attributeNames | sort | join(", ")' <<<"$answer")"
  fi
  answer=$(failure call sessions/00000000-0000-4000-8000-000000000000)
  echo "unknown session: $answer"
  answer=$(call integrationgraph)
  echo "graph: $(jq -r '"\(.nodes | length) nodes, \(.links | length) links"' <<<"$answer")"
}

case "${1:-} $#" in
tour\ [123]) tour "${@:2}" ;;
set\ 3)
  configure "$2" "\"${3^^}\""
  show_level set "$2"
  ;;
*)
  echo "Usage: client.sh tour [logger [user]] | set <logger> <level>" >&2
  exit 2
  ;;
esac
