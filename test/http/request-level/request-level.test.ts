import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import express from "express";
import fastify, { type FastifyBaseLogger } from "fastify";
import { type Logger, pino } from "pino";
import { afterEach, describe, expect, test, vi } from "vitest";
import { pinoLoggers } from "../../../src/adapters/loggers/pino/index.ts";
import {
  type LevelToken,
  type RequestLevelHook,
  readLevelToken,
  requestLevel,
  signLevelToken,
} from "../../../src/http/request-level/index.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";

const KEY = "0123456789abcdef0123456789abcdef";
const OTHER_KEY = new Uint8Array(32).fill(7);
const MINUTE = 60_000;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const debug: LevelToken = { level: "DEBUG", ttlMs: MINUTE };
const good = () => signLevelToken(KEY, debug);

/** A token with any content, signed as it has to be. */
function signed(text: string, key = KEY): string {
  const content = Buffer.from(text).toString("base64url");
  const signature = createHmac("sha256", key).update("connect-actuator level token 1\n").update(content).digest();
  return `${content}.${signature.toString("base64url")}`;
}

const bad: readonly (readonly [string, string, string])[] = [
  ["nothing", "", "NOT_SIGNED"],
  ["one without a signature", good().split(".")[0]!, "NOT_SIGNED"],
  ["one with an empty signature", `${good().split(".")[0]}.`, "NOT_SIGNED"],
  ["one with half a signature", good().slice(0, -20), "NOT_SIGNED"],
  ["one of another key", signLevelToken(OTHER_KEY, debug), "NOT_SIGNED"],
  ["one whose content was changed", signed("{}").replace(/^[^.]*/, good().split(".")[0]!), "NOT_SIGNED"],
  [
    "what the key signed for another purpose",
    `e30.${createHmac("sha256", KEY).update("e30").digest("base64url")}`,
    "NOT_SIGNED",
  ],
  ["one that is too long", good().padEnd(2_049, "A"), "TOO_LONG"],
  ["one that expired", signed(JSON.stringify({ level: "DEBUG", expires: Date.now() - 1 })), "EXPIRED"],
  ["one that is good for too long", signLevelToken(KEY, { level: "DEBUG", ttlMs: 61 * MINUTE }), "LASTS_TOO_LONG"],
  ["one that never expires", signed('{"level":"DEBUG"}'), "UNFIT"],
  ["one with an unknown level", signed(JSON.stringify({ level: "LOUD", expires: Date.now() + 1_000 })), "UNFIT"],
  [
    "one with an unfit name",
    signed(JSON.stringify({ level: "DEBUG", logger: 7, expires: Date.now() + 1_000 })),
    "UNFIT",
  ],
  ["signed nonsense", signed("no JSON"), "UNFIT"],
  ["signed null", signed("null"), "UNFIT"],
];

describe("a level token", () => {
  test.each([
    [debug, { level: "DEBUG", logger: undefined }],
    [
      { level: "TRACE", logger: "orders:payment", ttlMs: 60 * MINUTE - 1 },
      { level: "TRACE", logger: "orders.payment" },
    ],
    [
      { level: "TRACE", logger: "ü".repeat(256), ttlMs: 1_000 },
      { level: "TRACE", logger: "ü".repeat(256) },
    ],
  ] as const)("says what was signed: %j", (content, expected) => {
    expect(readLevelToken(KEY, signLevelToken(KEY, content), 60 * MINUTE)).toEqual(expected);
  });

  test.each(bad)("counts for nothing: %s", (_, token, fault) => {
    expect(readLevelToken(KEY, token, 60 * MINUTE)).toBe(fault);
  });

  test("counts for nothing with any one character of it changed", () => {
    const token = good();
    const changed = [...token].map((character, at) => {
      const other = character === "A" ? "Q" : "A";
      return token.slice(0, at) + other + token.slice(at + 1);
    });
    // The last character has bits that mean nothing.
    const faults = changed.slice(0, -1).map((each) => readLevelToken(KEY, each, 60 * MINUTE));
    expect(new Set(faults)).toEqual(new Set(["NOT_SIGNED"]));
  });

  test.each([
    ["INVALID_KEY", "short", debug],
    ["INVALID_LEVEL", KEY, { ...debug, level: "LOUD" }],
    ["INVALID_TTL", KEY, { ...debug, ttlMs: 0 }],
    ["INVALID_TTL", KEY, { ...debug, ttlMs: Number.POSITIVE_INFINITY }],
    ["INVALID_NAME", KEY, { ...debug, logger: "" }],
  ])("is not made where it would be unfit: %s", (reason, key, content) => {
    expect(() => signLevelToken(key, content as LevelToken)).toThrow(expect.objectContaining({ reason }));
  });
});

/** Applications that log a line at DEBUG in each request, after having waited. */
const applications: readonly (readonly [string, (root: Logger, hook: RequestLevelHook) => Promise<string>])[] = [
  [
    "node:http",
    (root, hook) =>
      serve((request, response) =>
        hook(request, response, async () => {
          await turn();
          root.debug(request.url);
          response.end();
        }),
      ),
  ],
  [
    "express",
    (root, hook) => {
      const app = express();
      app.use(hook);
      app.get("/:id", async (request, response) => {
        await turn();
        root.child({ name: "orders" }).debug(request.url);
        response.end();
      });
      return serve(app);
    },
  ],
  [
    "fastify",
    async (root, hook) => {
      const app = fastify({ loggerInstance: root as FastifyBaseLogger });
      cleanups.push(() => app.close());
      app.addHook("onRequest", hook);
      app.get("/:id", async (request) => {
        await turn();
        request.log.debug(request.url);
        return "";
      });
      return app.listen({ port: 0, host: "127.0.0.1" });
    },
  ],
];

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function logged() {
  const lines: string[] = [];
  const root = pino({ level: "warn" }, { write: (line) => void lines.push(line) });
  const loggers = new Loggers();
  cleanups.push(() => loggers.close());
  cleanups.push(loggers.attach(pinoLoggers(root)));
  const messages = () => lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
  // Of a verbose request, fastify tells that it is completed.
  return {
    root,
    loggers,
    urls: () =>
      messages()
        .filter((message) => message !== "request completed")
        .sort(),
  };
}

describe.each(applications)("a request of %s", (_, start) => {
  test("is verbose with a good token, beside others at the same time that are not", async () => {
    const warnings = vi.spyOn(process, "emitWarning").mockReturnValue();
    const { root, loggers, urls } = logged();
    const url = await start(root, requestLevel(loggers, { key: KEY }));
    const tokens = [good(), undefined, ...bad.map(([, token]) => token.slice(0, 4_000)), good()];
    const statuses = await Promise.all(
      tokens.map(async (token, index) => {
        const headers: Record<string, string> = token === undefined ? {} : { "X-Log-Level-Token": token };
        const response = await fetch(`${url}/${index}`, { headers });
        await response.text();
        return response.status;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(urls()).toEqual(["/0", `/${tokens.length - 1}`]);
    expect(warnings).toHaveBeenCalledTimes(1);
    const [[warning]] = warnings.mock.calls as unknown as [[string]];
    for (const [, token] of bad) if (token !== "") expect(warning).not.toContain(token);
    expect(warning).not.toContain(KEY);
  });
});

test("a request is no longer verbose when its response is closed, however that came", async () => {
  const { root, loggers, urls } = logged();
  const hook = requestLevel(loggers, { key: KEY, header: "X-Verbose" });
  const after = Promise.withResolvers<void>();
  const url = await serve((request, response) =>
    hook(request, response, async () => {
      root.debug("open");
      response.destroy();
      await once(response, "close");
      await turn();
      root.debug("closed");
      after.resolve();
    }),
  );
  await expect(fetch(url, { headers: { "x-verbose": good() } })).rejects.toThrow();
  await after.promise;
  expect(urls()).toEqual(["open"]);
});

test("a request whose response is closed already runs as it is: nothing would end its level", () => {
  const { root, loggers, urls } = logged();
  const response = { destroyed: true, once: () => undefined };
  let ran = 0;
  requestLevel(loggers, { key: KEY })({ headers: { "x-log-level-token": good() } }, response, () => {
    ran++;
    root.debug("no");
  });
  expect([ran, urls()]).toEqual([1, []]);
});

test("refuses a key that could be guessed and a time that is none", () => {
  const { loggers } = logged();
  expect(() => requestLevel(loggers, { key: "secret" })).toThrow(expect.objectContaining({ reason: "INVALID_KEY" }));
  expect(() => requestLevel(loggers, { key: KEY, maxTtlMs: 0 })).toThrow(
    expect.objectContaining({ reason: "INVALID_MAX_TTL" }),
  );
});
