/** `node log-client.ts <protocol> <http version> <url>`: watches what "orders" logs at DEBUG, says so, and waits to be killed. */
import { createClient } from "@connectrpc/connect";
import { Level } from "../../src/gen/actuator/v3/level_pb.ts";
import { LogsService } from "../../src/gen/actuator/v3/logs_pb.ts";
import { transportFor } from "./transport.ts";

const client = createClient(LogsService, transportFor(process.argv.slice(2)));
const request = { names: ["orders"], raise: { level: Level.DEBUG } };
for await (const { event } of client.watchLogs(request)) process.send!(event.case);
