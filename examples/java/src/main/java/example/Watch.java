package example;

import actuator.v3.Loggers.Logger;
import actuator.v3.Loggers.WatchLoggersRequest;
import actuator.v3.Loggers.WatchLoggersResponse;
import actuator.v3.LoggersServiceGrpc;
import io.grpc.Channel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.Iterator;

/** Prints every change of a level, for ever: over a server that drains, and one that is started again. */
final class Watch {

  private Watch() {}

  static void run(Channel channel) {
    var stub = LoggersServiceGrpc.newBlockingStub(channel);
    boolean again = false;
    while (true) {
      try {
        // The first call fails at once where address, certificate or token are wrong; later ones wait for the server, and
        // the channel tries to reach it with growing pauses.
        Iterator<WatchLoggersResponse> events =
            (again ? stub.withWaitForReady() : stub).watchLoggers(WatchLoggersRequest.getDefaultInstance());
        while (events.hasNext()) {
          show(events.next());
          again = true;
        }
      } catch (StatusRuntimeException e) {
        if (!again || e.getStatus().getCode() != Status.Code.UNAVAILABLE) {
          throw e;
        }
        System.out.println(Errors.summary(e) + ": " + e.getStatus().getDescription() + " Connecting again.");
      }
    }
  }

  private static void show(WatchLoggersResponse event) {
    if (event.hasSnapshot()) {
      System.out.println("watching " + event.getSnapshot().getLoggersCount() + " loggers");
    }
    for (Logger logger : event.getChange().getLoggersList()) {
      System.out.println(logger.getName() + " at " + Client.shortName(logger.getEffectiveLevel()));
    }
  }
}
