import { Code, ConnectError, createClient } from "@connectrpc/connect";
import pino from "pino";
import { expect, onTestFinished, test } from "vitest";
import { pinoLoggers } from "../../../src/adapters/loggers/pino/index.ts";
import { WatchedLoggers } from "../../../src/client/watched-loggers.ts";
import { Level } from "../../../src/gen/actuator/v3/level_pb.ts";
import { LoggersService } from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { createActuator } from "../../../src/index.ts";
import { http1Client } from "../../support/rest-client.ts";
import { errorInfo, libraryOf, transportOver, WIRES } from "../../support/rpc-harness.ts";
import { tokensFor } from "../../support/tokens.ts";

const OWN = ["orders", "orders.payment", "orders.refund"];
const OTHERS = ["billing", "billing.tax", "ordersarchive"];

async function shop() {
  const { file, tokens } = tokensFor({
    team: { permissions: ["loggers:*"], loggers: ["orders"] },
    all: { permissions: ["loggers:*"] },
  });
  const actuator = createActuator({
    loggers: {
      adapters: [libraryOf([...OWN, ...OTHERS])],
      groups: { mine: ["orders.payment"], mixed: ["orders", "billing"], theirs: ["billing"] },
      logLevelChanges: false,
    },
    access: { tokens: file },
    audit: false,
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url, port } = await actuator.listen({ port: 0 });
  const team = { headers: { authorization: `Bearer ${tokens.team}` } };
  const all = { headers: { authorization: `Bearer ${tokens.all}` } };
  const rest = (path: string, headers: Record<string, string> = team.headers) =>
    http1Client(port)({ path: `/actuator${path}`, headers });
  return { actuator, url, rest, team, all };
}

/** Changes inside and outside of what the token is for, the latest last. */
function changeLevels({ loggers }: Awaited<ReturnType<typeof shop>>["actuator"]) {
  for (const name of ["billing", "orders", "theirs", "mixed", "mine", "ordersarchive", "orders:refund", "ROOT"]) {
    loggers!.setLevel(name, "ERROR", { ttlMs: 60_000 });
  }
}

const refused = (error: unknown) => {
  const { code } = ConnectError.from(error);
  return [Code[code], errorInfo(ConnectError.from(error))?.reason];
};
const OUT_OF_REACH = ["PermissionDenied", "LOGGER_OUT_OF_REACH"];

test("a token for some loggers reads only these over REST", async () => {
  const { actuator, rest, all } = await shop();
  const overview = async (headers?: Record<string, string>) => {
    const { loggers, groups } = JSON.parse((await rest("/loggers", headers)).text);
    return { loggers: Object.keys(loggers), groups: Object.keys(groups) };
  };
  expect(await overview()).toEqual({ loggers: OWN, groups: ["mine"] });
  expect(await overview(all.headers)).toEqual({
    loggers: ["ROOT", ...[...OWN, ...OTHERS].sort()],
    groups: ["mine", "mixed", "theirs"],
  });
  actuator.loggers!.setLevel("orders", "ERROR");
  expect(JSON.parse((await rest("/loggers")).text).loggers.orders).toEqual({
    configuredLevel: "ERROR",
    effectiveLevel: "ERROR",
  });
  for (const name of ["orders", "orders.payment", "orders:refund", "mine"]) {
    expect((await rest(`/loggers/${name}`)).status).toBe(200);
  }
  expect((await rest("/loggers/orders.unknown")).status).toBe(404);
  for (const name of ["ROOT", ...OTHERS, "mixed", "theirs", "unknown"]) {
    expect((await rest(`/loggers/${name}`)).status, name).toBe(403);
  }
  const [own, whole] = await Promise.all([rest("/loggers"), rest("/loggers", all.headers)]);
  expect(own.headers.etag).not.toBe(whole.headers.etag);
});

test.each(WIRES)("a token for some loggers reads only these over $protocol, HTTP/$httpVersion", async (wire) => {
  const { actuator, url, team, all } = await shop();
  const client = createClient(LoggersService, transportOver(wire, url));
  const list = await client.listLoggers({}, team);
  expect(list.loggers.map(({ name }) => name)).toEqual(OWN);
  expect(list.groups.map(({ name }) => name)).toEqual(["mine"]);
  const first = await client.listLoggers({ pageSize: 2 }, team);
  const second = await client.listLoggers({ pageSize: 2, pageToken: first.nextPageToken }, team);
  expect([...first.loggers, ...second.loggers].map(({ name }) => name)).toEqual(OWN);
  expect((await client.listLoggers({}, all)).loggers).toHaveLength(7);

  expect((await client.getLogger({ name: "orders" }, team)).result.case).toBe("logger");
  for (const name of ["ROOT", "billing", "mixed", "unknown"]) {
    expect(refused(await client.getLogger({ name }, team).catch((error: unknown) => error))).toEqual(OUT_OF_REACH);
    const history = await client.listLevelChanges({ name }, team).catch((error: unknown) => error);
    expect(refused(history)).toEqual(OUT_OF_REACH);
  }

  const seen: string[] = [];
  const watching = (async () => {
    for await (const { event } of client.watchLoggers({}, team)) {
      if (event.case !== "snapshot" && event.case !== "change") continue;
      seen.push(...[...event.value.loggers, ...event.value.groups].map(({ name }) => name));
    }
  })().catch(() => {});
  await expect.poll(() => seen).toEqual([...OWN, "mine"]);
  changeLevels(actuator);
  await expect.poll(() => new Set(seen)).toEqual(new Set([...OWN, "mine"]));
  await expect.poll(() => seen.filter((name) => name === "mine").length).toBeGreaterThan(1);
  expect(seen.filter((name) => !OWN.includes(name) && name !== "mine")).toEqual([]);

  const changes = async (pageSize: number, options = team) => {
    const names: string[] = [];
    for (let pageToken = "", pages = 0; pages < 50; pages++) {
      const page = await client.listLevelChanges({ pageSize, pageToken }, options);
      names.push(...page.changes.map(({ name }) => name));
      if ((pageToken = page.nextPageToken) === "") break;
    }
    return names;
  };
  const own = await changes(100);
  expect(own.length).toBeGreaterThan(3);
  expect(own.filter((name) => !OWN.includes(name) && name !== "mine")).toEqual([]);
  for (const pageSize of [1, 2, 3]) expect(await changes(pageSize)).toEqual(own);
  expect(await changes(100, all)).toContain("billing");
  expect((await client.listLevelChanges({ name: "orders" }, team)).changes.length).toBeGreaterThan(0);
  await actuator.close();
  await watching;
});

test("a compact watch by a token for some loggers tells of a change of ROOT what these inherit", async () => {
  const { actuator, url, team } = await shop();
  const client = createClient(LoggersService, transportOver(WIRES[0]!, url));
  const known = new WatchedLoggers();
  const inherited: string[] = [];
  const watching = (async () => {
    for await (const response of client.watchLoggers({ compact: true }, team)) {
      known.apply(response);
      if (response.event.case === "change") inherited.push(...response.event.value.inherited.map(({ name }) => name));
    }
  })().catch(() => {});
  await expect.poll(() => [...known.loggers.keys()]).toEqual(OWN);
  actuator.loggers!.setLevel("ROOT", "ERROR");
  await expect.poll(() => inherited).toEqual(["orders"]);
  expect([...known.loggers.values()].map(({ name, effectiveLevel }) => [name, effectiveLevel])).toEqual(
    OWN.map((name) => [name, Level.ERROR]),
  );
  await actuator.close();
  await watching;
});

test("a measurement by a token for some loggers counts only these", async () => {
  const { file, tokens } = tokensFor({ team: { permissions: ["loggers:*"], loggers: ["orders"] } });
  const root = pino({}, { write: () => {} });
  const adapters = [pinoLoggers(root)];
  const [orders, archive] = ["orders", "ordersarchive"].map((name) => root.child({ name }));
  const actuator = createActuator({ loggers: { adapters }, access: { tokens: file }, audit: false });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url } = await actuator.listen({ port: 0 });
  const team = { headers: { authorization: `Bearer ${tokens.team}` } };
  const client = createClient(LoggersService, transportOver(WIRES[0]!, url));
  let calls = 0;
  for await (const { loggers, total } of client.measureLoggers({ namePrefix: "orders" }, team)) {
    for (const logger of [orders, archive]) logger!.info("called");
    if (loggers.length === 0) continue;
    expect(loggers.map(({ name }) => name)).toEqual(["orders"]);
    expect(total).toEqual(loggers[0]!.levels);
    calls++;
    break;
  }
  expect(calls).toBe(1);
  const measure = (namePrefix: string) => client.measureLoggers({ namePrefix }, team)[Symbol.asyncIterator]().next();
  for (const prefix of ["", "bill", "order"]) {
    expect(refused(await measure(prefix).catch((error: unknown) => error))).toEqual(OUT_OF_REACH);
  }
});
