import fastify, { type FastifyInstance, type FastifyServerOptions } from "fastify";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import { actuatorOf } from "../support/nest-actuator.ts";
import { http1Request } from "../support/server-harness.ts";

interface Line {
  readonly msg: string;
  readonly reqId?: string;
  readonly module?: string;
}

/** What fastify writes by itself, at the level INFO. */
const OF_FASTIFY = /^(incoming request|request completed|Server listening)/;

/** An application with a route of each kind, served beside an actuator. */
async function application(logger: (write: (line: string) => void) => Partial<FastifyServerOptions>) {
  const lines: Line[] = [];
  const app = fastify({
    ...logger((text) => {
      const line = JSON.parse(text) as Line;
      if (!OF_FASTIFY.test(line.msg)) lines.push(line);
    }),
  }) as FastifyInstance;
  onTestFinished(() => app.close());
  const rest = await actuatorOf(pinoLoggers(app.log));
  const orders = app.log.child({ module: "shop.orders" });
  const all = (log: FastifyInstance["log"]) => {
    for (const level of ["trace", "debug", "info", "warn", "error", "fatal"] as const) log[level](level);
  };
  app.get("/request", async (request) => all(request.log));
  app.get("/own", { logLevel: "error" }, async (request) => all(request.log));
  app.get("/orders", async () => all(orders));
  app.get("/child", async (request) => all(request.log.child({ module: "shop.request" })));
  app.get("/under-way", async (request) => {
    request.log.debug("before");
    await rest.post("ROOT", "DEBUG");
    request.log.debug("after");
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const url = app.listeningOrigin;
  lines.length = 0;
  const request = async (path: string) => {
    lines.length = 0;
    expect((await http1Request(`${url}${path}`)).status).toBe(200);
    return lines.map(({ msg }) => msg);
  };
  return { app, lines, request, ...rest };
}

describe.each([
  ["its own logger", (write) => ({ logger: { level: "info", stream: { write } } })],
  ["a logger of the application", (write) => ({ loggerInstance: pino({ level: "info" }, { write }) })],
] satisfies [string, Parameters<typeof application>[0]][])("fastify with %s", (_, logger) => {
  const from = (level: string) => {
    const levels = ["trace", "debug", "info", "warn", "error", "fatal"];
    return levels.slice(levels.indexOf(level));
  };

  test("writes what the levels say for each request", async () => {
    const { request, get, post, lines } = await application(logger);
    expect(await get("ROOT")).toEqual({ configuredLevel: "INFO", effectiveLevel: "INFO" });
    expect(await request("/request")).toEqual(from("info"));
    for (const level of ["trace", "debug", "warn", "error", "fatal"]) {
      expect(await post("ROOT", level)).toBe(204);
      expect(await request("/request")).toEqual(from(level));
      expect(new Set(lines.map(({ reqId }) => typeof reqId))).toEqual(new Set(["string"]));
    }
    await post("ROOT", "off");
    expect(await request("/request")).toEqual([]);
  });

  test("follows while a request is under way", async () => {
    const { request } = await application(logger);
    expect(await request("/under-way")).toEqual(["after"]);
  });

  test("leaves a route its own level, whatever ROOT's is", async () => {
    const { request, post } = await application(logger);
    for (const level of ["TRACE", "OFF", "INFO"]) {
      await post("ROOT", level);
      expect(await request("/own")).toEqual(from("error"));
    }
  });

  test("has a level for each named child, of the application and of a request", async () => {
    const { request, get, post } = await application(logger);
    await post("shop", "DEBUG");
    expect(await get("shop.orders")).toEqual({ effectiveLevel: "DEBUG" });
    expect(await request("/orders")).toEqual(from("debug"));
    expect(await request("/child")).toEqual(from("debug"));
    expect(await request("/request")).toEqual(from("info"));
    await post("shop.request", "ERROR");
    expect(await request("/child")).toEqual(from("error"));
    expect(await request("/orders")).toEqual(from("debug"));
    await post("shop", null);
    expect(await request("/orders")).toEqual(from("info"));
  });

  test("adopts a level that the application sets", async () => {
    const { app, request, get } = await application(logger);
    app.log.level = "trace";
    expect(await get("ROOT")).toEqual({ configuredLevel: "TRACE", effectiveLevel: "TRACE" });
    expect(await request("/orders")).toEqual(from("trace"));
  });
});
