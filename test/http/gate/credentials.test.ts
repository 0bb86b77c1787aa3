import { expect, onTestFinished, test } from "vitest";
import { createActuator } from "../../../src/index.ts";
import { END_HEADERS, END_STREAM, FRAME, frame, framesOf, hpack, settings } from "../../support/server-frames.ts";
import { eventually, rawClient } from "../../support/server-harness.ts";
import { tokensFor } from "../../support/tokens.ts";

async function guarded() {
  const { file, tokens } = tokensFor({ reader: { permissions: ["loggers:read"] } });
  const actuator = createActuator({ loggers: {}, access: { tokens: file }, audit: false });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { port } = await actuator.listen({ port: 0 });
  return { client: await rawClient(port), token: tokens.reader };
}

/** What comes of these lines of headers, sent as they are; `$` stands for a token that may read loggers. */
async function statusOf(path: string, ...lines: readonly string[]): Promise<string> {
  const { client, token } = await guarded();
  const text = [path, "Host: localhost", "Connection: close", ...lines, "", ""].join("\r\n");
  client.socket.write(text.replaceAll("$", token));
  return (await client.closed).split(" ")[1] ?? "";
}

const READ = "GET /actuator/loggers HTTP/1.1";

test.each<[status: string, first: string, ...lines: string[]]>([
  ["200", READ, "Authorization: Bearer $"],
  ["200", READ, "AUTHORIZATION: bEaReR  $"],
  ["401", READ],
  ["401", READ, "Authorization: Bearer x", "Authorization: Bearer $"],
  ["401", READ, "Authorization: Bearer $", "authorization: Bearer x"],
  ["401", READ, "Authorization: Bearer $", "Authorization: Bearer $"],
  ["401", READ, "Authorization: Bearer $, Bearer x"],
  ["401", READ, "Authorization: $"],
  ["401", READ, "Authorization: Bearer\t$"],
  ["401", READ, `Authorization: Bearer ${"A".repeat(15_000)}`],
  ["400", READ, "Authorization: Bearer", " $"],
  ["400", READ, "Authorization : Bearer $"],
  ["401", READ, "Authorization_: Bearer $"],
  ["401", READ, "Proxy-Authorization: Bearer $"],
  ["401", READ, "Cookie: Authorization=Bearer $"],
  ["401", READ, "X-Original-URL: /actuator/health", "X-Rewrite-URL: /actuator/health"],
  ["401", "GET /actuator/loggers?access_token=$ HTTP/1.1"],
  ["401", "GET http://x:$@localhost/actuator/loggers HTTP/1.1"],
  ["401", "HEAD /actuator/loggers HTTP/1.1"],
  ["403", "POST /actuator/loggers/ROOT HTTP/1.1", "Authorization: Bearer $", "X-HTTP-Method-Override: GET"],
  ["403", "POST /actuator/loggers/ROOT?_method=GET HTTP/1.1", "Authorization: Bearer $"],
  [
    "403",
    "POST /actuator.v3.LoggersService/SetLoggerLevel?x HTTP/1.1",
    "Authorization: Bearer $",
    "Content-Type: application/json",
  ],
  ["404", "POST /actuator/%6coggers/ROOT HTTP/1.1", "Authorization: Bearer $"],
  ["404", "POST /actuator/health/%2e%2e/loggers/ROOT HTTP/1.1", "Authorization: Bearer $"],
  ["404", "POST /actuator.v3.LoggersService/%53etLoggerLevel HTTP/1.1", "Authorization: Bearer $"],
])("%s is the answer to %s with %j", async (status, first, ...lines) => {
  expect(await statusOf(first, ...lines)).toBe(status);
});

/** The status 200 as the static table of HPACK has it. */
const OK = 0x88;

test.each<[isOk: boolean, credentials: readonly string[]]>([
  [true, ["Bearer $"]],
  [false, ["Bearer $", "Bearer x"]],
  [false, ["Bearer x", "Bearer $"]],
])("over HTTP/2, too, it is %s that somebody is let in with %j", async (isOk, credentials) => {
  const { client, token } = await guarded();
  const request = { ":method": "GET", ":scheme": "http", ":authority": "localhost", ":path": "/actuator/loggers" };
  const fields = credentials.map((value) => hpack({ authorization: value.replace("$", token) }));
  const headers = frame(FRAME.HEADERS, END_STREAM | END_HEADERS, 1, Buffer.concat([hpack(request), ...fields]));
  client.socket.write(Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), settings(), headers]));
  const answer = () => framesOf(client.received()).find(({ type }) => type === FRAME.HEADERS);
  await eventually(
    () => answer() !== undefined,
    () => "no answer",
  );
  expect(answer()!.payload[0] === OK).toBe(isOk);
});
