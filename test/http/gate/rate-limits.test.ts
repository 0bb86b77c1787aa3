import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import { LoggersService } from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { createActuator } from "../../../src/index.ts";
import { errorInfo, transportOver } from "../../support/rpc-harness.ts";
import { tokensFor } from "../../support/tokens.ts";

const WRONG = { authorization: "Bearer wrong" };

async function afterOneGuess(): Promise<string> {
  const { file } = tokensFor({ reader: { permissions: ["loggers:read"] } });
  const access = { tokens: file, limits: { maxFailuresPerMinute: 1 } };
  const actuator = createActuator({ loggers: {}, access, audit: false });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url } = await actuator.listen({ port: 0 });
  expect((await fetch(`${url}/actuator/loggers`, { headers: WRONG })).status).toBe(401);
  return url;
}

test.each([
  ["GET", "/actuator/loggers"],
  ["POST", "/actuator.v3.LoggersService/ListLoggers"],
])("%s %s says in a header when to try again", async (method, path) => {
  const url = await afterOneGuess();
  const headers = { ...WRONG, "content-type": "application/json" };
  const answer = await fetch(url + path, { method, headers, ...(method === "POST" && { body: "{}" }) });
  expect(answer.status).toBe(429);
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
});

test("gRPC says in its trailers and details when to try again", async () => {
  const url = await afterOneGuess();
  const client = createClient(LoggersService, transportOver({ protocol: "gRPC", httpVersion: "2" }, url));
  const error = ConnectError.from(await client.listLoggers({}, { headers: WRONG }).catch((error: unknown) => error));
  expect(error.code).toBe(Code.ResourceExhausted);
  const seconds = error.metadata.get("retry-after");
  expect(Number(seconds)).toBeGreaterThan(0);
  expect(errorInfo(error)).toMatchObject({
    reason: "TOO_MANY_REQUESTS",
    metadata: { retryAfterSeconds: seconds },
  });
});
