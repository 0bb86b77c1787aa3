package example;

import static actuator.v3.LevelOuterClass.Level.LEVEL_DEBUG;

import actuator.v3.IntegrationGraph.GetIntegrationGraphRequest;
import actuator.v3.IntegrationGraphServiceGrpc;
import actuator.v3.Loggers.ListLoggersRequest;
import actuator.v3.Loggers.Logger;
import actuator.v3.Loggers.RestoreLoggerLevelRequest;
import actuator.v3.Loggers.SetLoggerLevelRequest;
import actuator.v3.Loggers.WatchLoggersRequest;
import actuator.v3.Loggers.WatchLoggersResponse;
import actuator.v3.LoggersServiceGrpc;
import actuator.v3.LoggersServiceGrpc.LoggersServiceBlockingStub;
import actuator.v3.Sessions.GetSessionRequest;
import actuator.v3.Sessions.ListSessionsRequest;
import actuator.v3.SessionsServiceGrpc;
import io.grpc.Channel;
import io.grpc.Context;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.stub.AbstractStub;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;

/** Shows each thing that can be done once, and stops at the first that is not as it should be. */
final class Tour {

  private final Channel channel;

  Tour(Channel channel) {
    this.channel = channel;
  }

  void run(String logger, String user) {
    var health = patient(HealthGrpc.newBlockingStub(channel)).check(HealthCheckRequest.getDefaultInstance());
    say("health: " + health.getStatus());
    loggers(logger);
    sessions(user);
    var graph =
        patient(IntegrationGraphServiceGrpc.newBlockingStub(channel))
            .getIntegrationGraph(GetIntegrationGraphRequest.getDefaultInstance());
    say("graph: " + graph.getNodesCount() + " nodes, " + graph.getLinksCount() + " links");
  }

  private void loggers(String name) {
    var stub = LoggersServiceGrpc.newBlockingStub(channel);
    List<Logger> listed = patient(stub).listLoggers(ListLoggersRequest.getDefaultInstance()).getLoggersList();
    Logger root = listed.get(0);
    say("loggers: " + listed.size() + ", " + root.getName() + " at " + level(root));

    // A blocking stub's stream that is not read to its end lives until its context is cancelled.
    try (Context.CancellableContext context = Context.current().withCancellation()) {
      context.run(() -> setAndRestore(stub, name));
    }

    var nothing = SetLoggerLevelRequest.newBuilder().setName(name).build();
    say("no level: " + failure(() -> patient(stub).setLoggerLevel(nothing)));
    var watch = stub.withDeadlineAfter(Duration.ofMillis(500));
    String end = failure(() -> watch.watchLoggers(WatchLoggersRequest.getDefaultInstance()).forEachRemaining(event -> {}));
    say("a watch of 500 ms: " + end);
  }

  private void setAndRestore(LoggersServiceBlockingStub stub, String name) {
    // The watch is open before the level is set, so that it cannot miss the change.
    var events = patient(stub).watchLoggers(WatchLoggersRequest.newBuilder().setNamePrefix(name).build());
    say("watch: " + name + " at " + level(next(events, name)));
    var request =
        SetLoggerLevelRequest.newBuilder()
            .setName(name)
            .setLevel(LEVEL_DEBUG)
            .setTtl(com.google.protobuf.Duration.newBuilder().setSeconds(60))
            .setReason("a tour in Java")
            .build();
    say("set: " + name + " at " + level(patient(stub).setLoggerLevel(request).getLogger()));
    say("watch: " + name + " at " + level(next(events, name)));
    var restored = patient(stub).restoreLoggerLevel(RestoreLoggerLevelRequest.newBuilder().setName(name).build());
    say("restore: " + name + " at " + level(restored.getLogger()));
    say("watch: " + name + " at " + level(next(events, name)));
  }

  private void sessions(String user) {
    var stub = SessionsServiceGrpc.newBlockingStub(channel);
    var found = patient(stub).listSessions(ListSessionsRequest.newBuilder().setUsername(user).build()).getSessionsList();
    say("sessions: " + found.size() + " of " + user);
    if (!found.isEmpty()) {
      var request = GetSessionRequest.newBuilder().setId(found.get(0).getId()).build();
      var session = patient(stub).getSession(request).getSession();
      var attributes = String.join(", ", session.getAttributeNamesList().stream().sorted().toList());
      say("session: of " + session.getUsername() + ", with " + attributes);
    }
    var unknown = GetSessionRequest.newBuilder().setId("00000000-0000-4000-8000-000000000000").build();
    say("unknown session: " + failure(() -> patient(stub).getSession(unknown)));
  }

  /** The logger in the next event that has it; heartbeats and changes of others are passed over. */
  private static Logger next(Iterator<WatchLoggersResponse> events, String name) {
    while (events.hasNext()) {
      WatchLoggersResponse event = events.next();
      var loggers =
          Stream.concat(event.getSnapshot().getLoggersList().stream(), event.getChange().getLoggersList().stream());
      var found = loggers.filter(logger -> logger.getName().equals(name)).findFirst();
      if (found.isPresent()) {
        return found.get();
      }
    }
    throw new IllegalStateException("the watch ended without a change of " + name);
  }

  /** The error of a call that has to fail. */
  private static String failure(Runnable call) {
    try {
      call.run();
    } catch (StatusRuntimeException e) {
      return Errors.summary(e);
    }
    throw new IllegalStateException("the call had to fail and did not");
  }

  private static <S extends AbstractStub<S>> S patient(S stub) {
    return stub.withDeadlineAfter(Client.PATIENCE);
  }

  private static String level(Logger logger) {
    return Client.shortName(logger.getEffectiveLevel());
  }

  private static void say(String line) {
    System.out.println(line);
  }
}
