"""A client of connect-actuator: python client.py tour|watch|set; see README.md."""

import argparse
import sys

import grpc
from google.protobuf.duration_pb2 import Duration
from grpc_health.v1 import health_pb2, health_pb2_grpc

from actuator.v3 import integration_graph_pb2 as graph
from actuator.v3 import integration_graph_pb2_grpc as graph_rpc
from actuator.v3 import loggers_pb2 as loggers
from actuator.v3 import loggers_pb2_grpc as loggers_rpc
from actuator.v3 import sessions_pb2 as sessions
from actuator.v3 import sessions_pb2_grpc as sessions_rpc
from actuator.v3.level_pb2 import LEVEL_DEBUG, Level
from connection import connect
from errors import summary

# Every call but a watch has a deadline: without one, a call to a server that hangs waits for ever.
SECONDS = 30


def tour(channel, logger, user):
    """Shows each thing that can be done once, and stops at the first that is not as it should be."""
    health = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=SECONDS)
    print(f"health: {health_pb2.HealthCheckResponse.ServingStatus.Name(health.status)}")
    tour_loggers(loggers_rpc.LoggersServiceStub(channel), logger)
    tour_sessions(sessions_rpc.SessionsServiceStub(channel), user)

    response = graph_rpc.IntegrationGraphServiceStub(channel).GetIntegrationGraph(
        graph.GetIntegrationGraphRequest(), timeout=SECONDS
    )
    print(f"graph: {len(response.nodes)} nodes, {len(response.links)} links")


def tour_loggers(stub, name):
    listed = stub.ListLoggers(loggers.ListLoggersRequest(), timeout=SECONDS)
    print(f"loggers: {len(listed.loggers)}, {listed.loggers[0].name} at {level(listed.loggers[0])}")

    # The watch is open before the level is set, so that it cannot miss the change.
    watch = stub.WatchLoggers(loggers.WatchLoggersRequest(name_prefix=name), timeout=SECONDS)
    snapshot = next(watch).snapshot
    print(f"watch: {name} at {level(named(name, snapshot.loggers))}")
    request = loggers.SetLoggerLevelRequest(
        name=name, level=LEVEL_DEBUG, ttl=Duration(seconds=60), reason="a tour in Python"
    )
    print(f"set: {name} at {level(stub.SetLoggerLevel(request, timeout=SECONDS).logger)}")
    print(f"watch: {name} at {level(next_change(watch, name))}")
    restored = stub.RestoreLoggerLevel(loggers.RestoreLoggerLevelRequest(name=name), timeout=SECONDS)
    print(f"restore: {name} at {level(restored.logger)}")
    print(f"watch: {name} at {level(next_change(watch, name))}")
    watch.cancel()

    print(f"no level: {failure(stub.SetLoggerLevel, loggers.SetLoggerLevelRequest(name=name))}")

    def until_deadline(request, timeout):
        for _ in stub.WatchLoggers(request, timeout=timeout):
            pass

    print(f"a watch of 500 ms: {failure(until_deadline, loggers.WatchLoggersRequest(), timeout=0.5)}")


def tour_sessions(stub, user):
    found = stub.ListSessions(sessions.ListSessionsRequest(username=user), timeout=SECONDS).sessions
    print(f"sessions: {len(found)} of {user}")
    if found:
        session = stub.GetSession(sessions.GetSessionRequest(id=found[0].id), timeout=SECONDS).session
        print(f"session: of {session.username}, with {', '.join(sorted(session.attribute_names))}")
    unknown = sessions.GetSessionRequest(id="00000000-0000-4000-8000-000000000000")
    print(f"unknown session: {failure(stub.GetSession, unknown)}")


def watch(channel):
    """Prints every change of a level, for ever: over a server that drains, and one that is started again."""
    stub = loggers_rpc.LoggersServiceStub(channel)
    again = False
    while True:
        # The first call fails at once where address, certificate or token are wrong; later ones wait for the server.
        events = stub.WatchLoggers(loggers.WatchLoggersRequest(), wait_for_ready=again)
        try:
            for event in events:
                again = True
                if event.HasField("snapshot"):
                    say(f"watching {len(event.snapshot.loggers)} loggers")
                for logger in event.change.loggers:
                    say(f"{logger.name} at {level(logger)}")
        except grpc.RpcError as error:
            if not again or error.code() != grpc.StatusCode.UNAVAILABLE:
                raise
            say(f"{error.code().name}: {error.details()} Connecting again.")


def set_level(channel, name, wanted):
    request = loggers.SetLoggerLevelRequest(name=name, level=Level.Value(f"LEVEL_{wanted}"), reason="an example")
    response = loggers_rpc.LoggersServiceStub(channel).SetLoggerLevel(request, timeout=SECONDS)
    now = response.logger.effective_level if response.HasField("logger") else response.group.configured_level
    print(f"{name} at {short(now)}, was {short(response.previous_level)}")


def next_change(watch, name):
    """The logger in the next change; heartbeats and changes of others are passed over."""
    for event in watch:
        for logger in event.change.loggers:
            if logger.name == name:
                return logger
    raise RuntimeError(f"the watch ended without a change of {name}")


def named(name, found):
    return next(logger for logger in found if logger.name == name)


def level(logger):
    return short(logger.effective_level)


def short(value):
    return Level.Name(value).removeprefix("LEVEL_")


def failure(call, request, timeout=SECONDS):
    """The error of a call that has to fail."""
    try:
        call(request, timeout=timeout)
    except grpc.RpcError as error:
        return summary(error)
    raise RuntimeError("the call had to fail and did not")


def say(line):
    print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(description="A client of connect-actuator.")
    commands = parser.add_subparsers(dest="command", required=True)
    touring = commands.add_parser("tour", help="show each thing that can be done once")
    touring.add_argument("--logger", default="shop.orders")
    touring.add_argument("--user", default="alice")
    commands.add_parser("watch", help="print every change of a level, for ever")
    setting = commands.add_parser("set", help="set a level")
    setting.add_argument("logger")
    setting.add_argument("level", type=str.upper, choices=[short(value) for value in Level.values() if value])
    arguments = parser.parse_args()
    try:
        with connect() as channel:
            if arguments.command == "tour":
                tour(channel, arguments.logger, arguments.user)
            elif arguments.command == "watch":
                watch(channel)
            else:
                set_level(channel, arguments.logger, arguments.level)
    except grpc.RpcError as error:
        sys.exit(f"{summary(error)}: {error.details()}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
