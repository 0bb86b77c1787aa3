import { expect, onTestFinished, test } from "vitest";
import { createActuator } from "../../src/index.ts";
import { rawClient } from "../support/server-harness.ts";
import { tokensFor } from "../support/tokens.ts";

/** What comes of these lines of headers, sent as they are; `$` stands for a token that may read loggers. */
async function statusOf(path: string, ...lines: readonly string[]): Promise<string> {
  const { file, tokens } = tokensFor({ reader: { permissions: ["loggers:read"] } });
  const actuator = createActuator({ loggers: {}, access: { tokens: file }, audit: false });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { port } = await actuator.listen({ port: 0 });
  const client = await rawClient(port);
  const text = [path, "Host: localhost", "Connection: close", ...lines, "", ""].join("\r\n");
  client.socket.write(text.replaceAll("$", tokens.reader));
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
