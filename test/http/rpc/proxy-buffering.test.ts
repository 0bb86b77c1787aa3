import { once } from "node:events";
import { connect, constants } from "node:http2";
import { expect, onTestFinished, test } from "vitest";
import { createActuator } from "../../../src/index.ts";

const SERVICE = "/actuator.v3.LoggersService";
/** An empty message in its envelope. */
const EMPTY = Buffer.alloc(5);

test.each([
  ["a watch over Connect", "/WatchLoggers", "application/connect+proto", EMPTY, "no"],
  ["a watch over gRPC-Web", "/WatchLoggers", "application/grpc-web+proto", EMPTY, "no"],
  ["a watch over gRPC, which proxies pass on at once", "/WatchLoggers", "application/grpc", EMPTY, undefined],
  ["an answer, which may wait until it is whole", "/ListLoggers", "application/proto", Buffer.alloc(0), undefined],
])("a proxy is told of %s whether it may keep it for a while", async (_, method, type, body, expected) => {
  const actuator = createActuator({ loggers: {} });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const session = connect((await actuator.listen({ port: 0 })).url);
  onTestFinished(() => session.destroy());
  const headers = { "content-type": type, te: "trailers" };
  const stream = session.request({ ":method": "POST", ":path": `${SERVICE}${method}`, ...headers });
  stream.end(body);
  const [answer] = await once(stream, "response");
  expect(answer[constants.HTTP2_HEADER_STATUS]).toBe(200);
  expect(answer["x-accel-buffering"]).toBe(expected);
});
