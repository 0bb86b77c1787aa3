/** `node hold-client.ts <protocol> <http version> <url>`: holds the logger "a" at DEBUG, says so, and waits to be killed. */
import { createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { Level } from "../../src/gen/actuator/v3/level_pb.ts";
import { LoggersService } from "../../src/gen/actuator/v3/loggers_pb.ts";

const [, , protocol, httpVersion, baseUrl] = process.argv as [string, string, string, "2", string];
const options = { baseUrl, httpVersion };
const transports: Readonly<Record<string, () => Transport>> = {
  "Connect JSON": () => createConnectTransport({ ...options, useBinaryFormat: false }),
  "Connect binary": () => createConnectTransport({ ...options, useBinaryFormat: true }),
  gRPC: () => createGrpcTransport(options),
  "gRPC-Web": () => createGrpcWebTransport(options),
};
const client = createClient(LoggersService, transports[protocol]!());
for await (const { event } of client.holdLoggerLevel({ name: "a", level: Level.DEBUG })) process.send!(event.case);
