package example;

import actuator.v3.LevelOuterClass.Level;
import actuator.v3.Loggers.SetLoggerLevelRequest;
import actuator.v3.LoggersServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;

/** A client of connect-actuator; see README.md. */
public final class Client {

  /** Every call but a watch has a deadline: without one, a call to a server that hangs waits for ever. */
  static final Duration PATIENCE = Duration.ofSeconds(30);

  private static final String USAGE =
      """
      Usage: java -jar actuator-client.jar <command>

        tour [logger [user]]   show each thing that can be done once
        watch                  print every change of a level, for ever
        set <logger> <level>   set a level
      """;

  private Client() {}

  public static void main(String[] args) throws IOException {
    int status = 0;
    ManagedChannel channel = Connection.open();
    try {
      if (!run(channel, args)) {
        System.err.print(USAGE);
        status = 2;
      }
    } catch (StatusRuntimeException e) {
      System.err.println(Errors.summary(e) + ": " + e.getStatus().getDescription());
      status = 1;
    } finally {
      channel.shutdownNow();
    }
    System.exit(status);
  }

  private static boolean run(ManagedChannel channel, String[] args) {
    String command = args.length == 0 ? "" : args[0];
    if (command.equals("tour") && args.length <= 3) {
      new Tour(channel).run(args.length > 1 ? args[1] : "shop.orders", args.length > 2 ? args[2] : "alice");
    } else if (command.equals("watch") && args.length == 1) {
      Watch.run(channel);
    } else if (command.equals("set") && args.length == 3 && levelOf(args[2]) != Level.UNRECOGNIZED) {
      setLevel(channel, args[1], levelOf(args[2]));
    } else {
      return false;
    }
    return true;
  }

  private static void setLevel(ManagedChannel channel, String name, Level level) {
    var request = SetLoggerLevelRequest.newBuilder().setName(name).setLevel(level).setReason("an example").build();
    var response = LoggersServiceGrpc.newBlockingStub(channel).withDeadlineAfter(PATIENCE).setLoggerLevel(request);
    Level now = response.hasGroup() ? response.getGroup().getConfiguredLevel() : response.getLogger().getEffectiveLevel();
    System.out.println(name + " at " + shortName(now) + ", was " + shortName(response.getPreviousLevel()));
  }

  static String shortName(Level level) {
    return level.name().replaceFirst("^LEVEL_", "");
  }

  private static Level levelOf(String name) {
    String wanted = name.toUpperCase(Locale.ROOT);
    return Arrays.stream(Level.values())
        .filter(level -> shortName(level).equals(wanted))
        .findFirst()
        .orElse(Level.UNRECOGNIZED);
  }
}
