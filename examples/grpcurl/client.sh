#!/usr/bin/env bash
# A client of connect-actuator with grpcurl and jq: client.sh tour|watch|set; see README.md.
set -euo pipefail

service=actuator.v3
address=${ACTUATOR_ADDRESS:-127.0.0.1:9001}

# Errors come as JSON, with their details. Keepalive notices a connection that is silently gone.
options=(-format-error -keepalive-time 20)
if [ -n "${ACTUATOR_CA:-}" ]; then options+=(-cacert "$ACTUATOR_CA"); else options+=(-plaintext); fi
# grpcurl puts the token in: on its command line, every user of the machine could read it.
# shellcheck disable=SC2016
if [ -n "${ACTUATOR_TOKEN:-}" ]; then options+=(-expand-headers -H 'authorization: Bearer ${ACTUATOR_TOKEN}'); fi
# The schema comes from the server, by reflection, unless it is to come from the files.
if [ "${ACTUATOR_SCHEMA:-reflection}" = proto ]; then
  options+=(-import-path "$(dirname "$0")/../../proto" -proto google/rpc/error_details.proto -proto grpc/health/v1/health.proto)
  for file in loggers sessions integration_graph; do options+=(-proto "actuator/v3/$file.proto"); done
fi

scratch=$(mktemp -d)
background=
finish() {
  local status=$? words
  [ -z "$background" ] || kill "$background" 2>/dev/null || true
  # What ended the script is the last that grpcurl said: an error of the server, put into words, or its own.
  if [ "$status" -ne 0 ] && [ -s "$scratch/error" ]; then
    if words=$(summary "$scratch/error"); then
      echo "$words: $(jq -r .message "$scratch/error")" >&2
    else
      cat "$scratch/error" >&2
    fi
    status=1
  fi
  rm -rf "$scratch"
  exit "$status"
}
trap finish EXIT

codes=(OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED
  RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED)

# The levels that a WatchLoggers event tells of, a line each.
events='(.snapshot // {} | .loggers // [] | if $all then "watching \(length) loggers" else .[] end),
  (.change // {} | .loggers // [] | .[])
  | if type == "object" then select($name == "" or .name == $name) | "\(.name) at \(.effectiveLevel | ltrimstr("LEVEL_"))" else . end
  | select(. != "watching 0 loggers")'

# call <Service/Method> [request]: prints the answer. Every call but a watch has a deadline.
call() {
  grpcurl "${options[@]}" -max-time "${seconds:-30}" -d "${2:-{\}}" "$address" "$1" 2>"$scratch/error"
}

# summary <file>: such as "NOT_FOUND SESSION_NOT_FOUND field=id", of an error that grpcurl wrote; fails where it wrote none.
summary() {
  jq -er --arg codes "${codes[*]}" '
    (.details // [] | map(select(."@type" == "type.googleapis.com/google.rpc.ErrorInfo")) | first // {}) as $info
    | [($codes | split(" "))[.code], $info.reason, ($info.metadata // {} | to_entries[] | "\(.key)=\(.value)")]
    | map(select(. != null)) | join(" ")' "$1" 2>/dev/null
}

# failure <Service/Method> [request]: says how a call fails that has to fail.
failure() {
  if call "$@" >/dev/null; then
    echo "the call had to fail and did not" >&2
    return 1
  fi
  summary "$scratch/error"
}

level() { jq -r '.logger.effectiveLevel // .group.configuredLevel | ltrimstr("LEVEL_")'; }

tour() {
  local logger=${1:-shop.orders} user=${2:-alice} answer id
  answer=$(call grpc.health.v1.Health/Check | jq -r .status)
  echo "health: $answer"
  call $service.LoggersService/ListLoggers |
    jq -r '"loggers: \(.loggers | length), \(.loggers[0] | "\(.name) at \(.effectiveLevel | ltrimstr("LEVEL_"))")"'
  tour_levels "$logger"
  answer=$(failure $service.LoggersService/SetLoggerLevel "{\"name\":\"$logger\"}")
  echo "no level: $answer"
  answer=$(seconds=0.5 failure $service.LoggersService/WatchLoggers)
  echo "a watch of 500 ms: $answer"

  answer=$(call $service.SessionsService/ListSessions "{\"username\":\"$user\"}")
  echo "sessions: $(jq '.sessions // [] | length' <<<"$answer") of $user"
  if id=$(jq -e '.sessions[0].id' <<<"$answer"); then
    call $service.SessionsService/GetSession "{\"id\":$id}" |
      jq -r '.session | "session: of \(.username), with \(.attributeNames | sort | join(", "))"'
  fi
  answer=$(failure $service.SessionsService/GetSession '{"id":"00000000-0000-4000-8000-000000000000"}')
  echo "unknown session: $answer"
  call $service.IntegrationGraphService/GetIntegrationGraph |
    jq -r '"graph: \(.nodes | length) nodes, \(.links | length) links"'
}

# The watch is open before the level is set, so that it cannot miss the change.
tour_levels() {
  local logger=$1 answer
  mkfifo "$scratch/events"
  grpcurl "${options[@]}" -max-time 30 -d "{\"name_prefix\":\"$logger\"}" "$address" \
    $service.LoggersService/WatchLoggers >"$scratch/events" 2>"$scratch/error" &
  background=$!
  exec 3< <(jq --unbuffered -r --argjson all false --arg name "$logger" "$events" <"$scratch/events")
  next_event
  answer=$(call $service.LoggersService/SetLoggerLevel \
    "{\"name\":\"$logger\",\"level\":\"LEVEL_DEBUG\",\"ttl\":\"60s\",\"reason\":\"a tour in a shell\"}" | level)
  echo "set: $logger at $answer"
  next_event
  answer=$(call $service.LoggersService/RestoreLoggerLevel "{\"name\":\"$logger\"}" | level)
  echo "restore: $logger at $answer"
  next_event
  kill "$background"
  background=
}

next_event() {
  local line
  read -r line <&3
  echo "watch: $line"
}

# Prints every change of a level, for ever: over a server that drains, and one that is started again. grpcurl's exit status
# is the gRPC code and 64; where it does not get as far as a call, it is 1.
watch() {
  local again=false status
  while true; do
    status=0
    grpcurl "${options[@]}" "$address" $service.LoggersService/WatchLoggers 2>"$scratch/error" |
      jq --unbuffered -r --argjson all true --arg name "" "$events" || status=${PIPESTATUS[0]}
    if [ "$status" -eq 78 ]; then
      again=true
      echo "$(summary "$scratch/error"): $(jq -r .message "$scratch/error") Connecting again."
    elif ! $again || [ "$status" -ne 1 ]; then
      return 1
    fi
    sleep 1
  done
}

set_level() {
  local request
  request=$(jq -n --arg name "$1" --arg level "LEVEL_${2^^}" '{$name, $level, reason: "an example"}')
  call $service.LoggersService/SetLoggerLevel "$request" | jq -r --arg name "$1" '
    "\($name) at \(.logger.effectiveLevel // .group.configuredLevel | ltrimstr("LEVEL_")), was "
    + (.previousLevel // "UNSPECIFIED" | ltrimstr("LEVEL_"))'
}

case "${1:-} $#" in
tour\ [123]) tour "${@:2}" ;;
watch\ 1) watch ;;
set\ 3) set_level "$2" "$3" ;;
*)
  echo "Usage: client.sh tour [logger [user]] | watch | set <logger> <level>" >&2
  exit 2
  ;;
esac
