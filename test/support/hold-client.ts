/** `node hold-client.ts <protocol> <http version> <url>`: holds the logger "a" at DEBUG, says so, and waits to be killed. */
import { createClient } from "@connectrpc/connect";
import { Level } from "../../src/gen/actuator/v3/level_pb.ts";
import { LoggersService } from "../../src/gen/actuator/v3/loggers_pb.ts";
import { transportFor } from "./transport.ts";

const client = createClient(LoggersService, transportFor(process.argv.slice(2)));
for await (const { event } of client.holdLoggerLevel({ name: "a", level: Level.DEBUG })) process.send!(event.case);
