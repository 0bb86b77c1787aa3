import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createActuator } from "../../../src/index.ts";

const WRONG = { authorization: "Basic d3Jvbmc6d3Jvbmc=" };

/** An actuator that lets one address be wrong once, behind a proxy on this machine. */
function guarded() {
  const actuator = createActuator({
    loggers: {},
    audit: false,
    trustedProxies: ["127.0.0.1"],
    access: { authorize: () => undefined, limits: { maxFailuresPerMinute: 1 } },
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const ask = (target: http.RequestOptions, headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const request = http.get({ ...target, path: "/actuator/loggers", headers, agent: false }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      request.on("error", reject);
    });
  return { actuator, ask };
}

test.each<[what: string, first: Record<string, string>, second: Record<string, string>, status: number]>([
  ["the same client", { "x-forwarded-for": "192.0.2.1" }, { "x-forwarded-for": "192.0.2.1" }, 429],
  ["another client", { "x-forwarded-for": "192.0.2.1" }, { "x-forwarded-for": "192.0.2.2" }, 401],
  ["a neighbour in its /64", { "x-forwarded-for": "2001:db8::1" }, { forwarded: 'for="[2001:db8::2]:80"' }, 429],
  ["the next /64", { "x-forwarded-for": "2001:db8::1" }, { "x-forwarded-for": "2001:db8:0:1::1" }, 401],
  ["itself by its IPv4 in IPv6", { "x-forwarded-for": "192.0.2.1" }, { "x-forwarded-for": "::ffff:192.0.2.1" }, 429],
  [
    "itself with a name that it made up",
    { "x-forwarded-for": "192.0.2.1" },
    { "x-forwarded-for": "9.9.9.9, 192.0.2.1" },
    429,
  ],
  ["somebody whom the proxy hides, after such a one", { forwarded: "for=unknown" }, { forwarded: "for=_other" }, 429],
  [
    "somebody with two stories, after such a one",
    { "x-forwarded-for": "192.0.2.1", forwarded: "for=192.0.2.2" },
    { "x-forwarded-for": "192.0.2.3", forwarded: "for=192.0.2.4" },
    429,
  ],
])(
  "behind a trusted proxy wrong credentials count for who it names: then %s hears %j %j %i",
  async (_, first, second, status) => {
    const { actuator, ask } = guarded();
    const { port } = await actuator.listen({ port: 0 });
    expect(await ask({ port }, { ...WRONG, ...first })).toBe(401);
    expect(await ask({ port }, { ...WRONG, ...second })).toBe(status);
  },
);

test.skipIf(process.platform === "win32")("over a Unix socket all are one, whatever they say", async () => {
  const folder = mkdtempSync(join(tmpdir(), "guesses-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const socketPath = join(folder, "s");
  const { actuator, ask } = guarded();
  await actuator.listen({ path: socketPath });
  expect(await ask({ socketPath }, { ...WRONG, "x-forwarded-for": "192.0.2.1" })).toBe(401);
  expect(await ask({ socketPath }, { ...WRONG, "x-forwarded-for": "192.0.2.2" })).toBe(429);
});
