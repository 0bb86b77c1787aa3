/**
 * `node bench/servers/connect.ts <http1|http2> <origin> <logger>`: a bare connect-node service that answers GetLogger
 * from a Map, with the message and the error that the service at the origin answers.
 */
import * as http from "node:http";
import * as http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { ConnectError, type ConnectRouter, createClient } from "@connectrpc/connect";
import { connectNodeAdapter, createConnectTransport } from "@connectrpc/connect-node";
import { LoggersService } from "../../src/gen/actuator/v3/loggers_pb.ts";
import { serving } from "../support/serve.ts";

const [, , protocol, baseUrl, name] = process.argv as [string, string, "http1" | "http2", string, string];
const original = createClient(LoggersService, createConnectTransport({ baseUrl, httpVersion: "1.1" }));
const { result } = await original.getLogger({ name });
if (result.case !== "logger") throw new Error(`${name} is no logger`);
const loggers = new Map([[name, result.value]]);
const { rawMessage, code, details } = await original.getLogger({ name: `${name}.missing` }).then(
  () => Promise.reject(new Error("an answer for a logger that does not exist")),
  (error: ConnectError) => error,
);

const handler = connectNodeAdapter({
  routes: (router: ConnectRouter) => {
    router.service(LoggersService, {
      getLogger({ name }) {
        const value = loggers.get(name);
        if (value === undefined) {
          const error = new ConnectError(rawMessage, code);
          error.details.push(...details);
          throw error;
        }
        return { result: { case: "logger", value } };
      },
    });
  },
});

const server = protocol === "http2" ? http2.createServer(handler) : http.createServer(handler);
server.listen(0, "127.0.0.1", () => serving((server.address() as AddressInfo).port));
