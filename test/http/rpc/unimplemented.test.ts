import type { DescMethod, DescMethodStreaming, DescMethodUnary } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createAsyncIterable } from "@connectrpc/connect/protocol";
import { describe, expect, test } from "vitest";
import { IntegrationGraphService } from "../../../src/gen/actuator/v3/integration_graph_pb.ts";
import { LoggersService } from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { SessionsService } from "../../../src/gen/actuator/v3/sessions_pb.ts";
import { Health } from "../../../src/gen/grpc/health/v1/health_pb.ts";
import { errorInfo, serveRpc, transportOver, WIRES } from "../../support/rpc-harness.ts";
import { http2Connect } from "../../support/server-harness.ts";

const leftOut = [LoggersService, SessionsService, IntegrationGraphService].flatMap((service) => service.methods);

/** One call of any method that takes one message, up to its first answer. */
async function callOf(transport: Transport, method: DescMethod): Promise<unknown> {
  if (method.methodKind === "unary")
    return transport.unary(method as DescMethodUnary, undefined, undefined, undefined, {});
  const input = createAsyncIterable([{}]);
  const { message } = await transport.stream(method as DescMethodStreaming, undefined, undefined, undefined, input);
  return message[Symbol.asyncIterator]().next();
}

describe.each(WIRES)("over $protocol, HTTP/$httpVersion", (wire) => {
  test.each(leftOut)(
    "$parent.name/$name of a domain that is left out is UNIMPLEMENTED and says why",
    async (method) => {
      const { url, errors } = await serveRpc();
      const error = (await callOf(transportOver(wire, url), method).catch(ConnectError.from)) as ConnectError;
      expect(error.code).toBe(Code.Unimplemented);
      expect(errorInfo(error)).toMatchObject({ reason: "NOT_SERVED", metadata: { service: method.parent.typeName } });
      expect(errors).toEqual([]);
    },
  );

  test("an unknown method is UNIMPLEMENTED, unary and streaming", async () => {
    const { url } = await serveRpc();
    // Other services of the same shapes under names that are not served.
    const unknown = Object.create(Health, { typeName: { value: "grpc.health.v9.Health" } }) as typeof Health;
    const method = { check: { parent: unknown }, watch: { parent: unknown } };
    const check = Object.assign(Object.create(Health.method.check), method.check);
    const watch = Object.assign(Object.create(Health.method.watch), method.watch);
    const service = Object.assign(Object.create(unknown), { methods: [check, watch], method: { check, watch } });
    const client = createClient(service as typeof Health, transportOver(wire, url));
    const unary = (await client.check({}).catch(ConnectError.from)) as ConnectError;
    const stream = (await client.watch({})[Symbol.asyncIterator]().next().catch(ConnectError.from)) as ConnectError;
    for (const error of [unary, stream]) {
      expect([error.code, error.rawMessage]).toEqual([Code.Unimplemented, "There is no such method."]);
      expect(error.details).toEqual([]);
    }
  });
});

test("gRPC hears it in one header frame that ends the stream", async () => {
  const { url } = await serveRpc();
  const session = await http2Connect(url);
  const stream = session.request({
    ":method": "POST",
    ":path": "/grpc.x.Y/Z",
    "content-type": "application/grpc+proto",
  });
  stream.resume();
  stream.end(Buffer.from([0, 0, 0, 0, 0]));
  const { headers, flags } = await new Promise<{ headers: object; flags: number }>((resolve) =>
    stream.once("response", (headers, flags) => resolve({ headers, flags })),
  );
  const END_STREAM = 0x1;
  expect(flags & END_STREAM).toBe(END_STREAM);
  expect(headers).toMatchObject({ ":status": 200, "content-type": "application/grpc+proto", "grpc-status": "12" });
});
