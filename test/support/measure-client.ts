/** `node measure-client.ts <protocol> <http version> <url>`: measures the loggers, says so, and waits to be killed. */
import { createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
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
const duration = { seconds: 300n };
for await (const _ of client.measureLoggers({ duration })) process.send!("measuring");
