import { hostname } from "node:os";
import { createClient } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import { createActuator } from "../../../src/actuator.ts";
import type { ActuatorOptions } from "../../../src/actuator-options.ts";
import { ApplicationService, type WatchActivityResponse } from "../../../src/gen/actuator/v3/application_pb.ts";
import { integrationGraph } from "../../../src/integration-graph/builder.ts";
import { cookieOnlySessions } from "../../../src/sessions/cookie-only.ts";
import { MemorySessionStore } from "../../../src/sessions/memory-store.ts";
import { transportOver, WIRES, type Wire } from "../../support/rpc-harness.ts";
import { type TokenGrant, tokensFor } from "../../support/tokens.ts";

const GRANTS = {
  all: { permissions: ["*"] },
  ops: { permissions: ["graph:read"], loggers: ["orders"] },
  team: { permissions: ["info:read", "sessions:list"] },
} satisfies Record<string, TokenGrant>;

function shop() {
  const flow = integrationGraph({ app: "shop" });
  const charge = flow.serviceActivator("charge", { input: "payments" });
  const handle = charge.handle((fails: boolean) => {
    if (fails) throw new Error("declined");
  });
  const pay = (fails: boolean) => {
    try {
      handle(fails);
    } catch {
      // Counted.
    }
  };
  return { flow, pay };
}

async function serve(options: Partial<ActuatorOptions> = {}) {
  const { flow, pay } = shop();
  const sessions = new MemorySessionStore();
  const state = { isUp: true };
  const checks = { bank: () => state.isUp };
  const { file, tokens } = tokensFor(GRANTS);
  const actuator = createActuator({
    name: "shop",
    version: "4.18.2",
    access: { tokens: file },
    audit: false,
    loggers: {},
    sessions: { store: sessions, idKey: "a key of the test" },
    integrationGraph: flow,
    health: { checks, cacheMs: 0, intervalMs: 10 },
    ...options,
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url } = await actuator.listen({ port: 0 });
  const client = (name: keyof typeof GRANTS, wire: Wire = WIRES[4]!) => {
    const service = createClient(ApplicationService, transportOver(wire, url));
    const headers = { authorization: `Bearer ${tokens[name]}` };
    return {
      get: () => service.getApplication({}, { headers }),
      watch() {
        const gone = new AbortController();
        onTestFinished(() => gone.abort());
        return service.watchActivity({}, { headers, signal: gone.signal })[Symbol.asyncIterator]();
      },
    };
  };
  return { url, client, pay, state, sessions };
}

/** The first message that fits. */
async function until(
  watch: AsyncIterator<WatchActivityResponse>,
  fits: (message: WatchActivityResponse) => boolean,
): Promise<WatchActivityResponse> {
  for (;;) {
    const { value, done } = await watch.next();
    if (done) throw new Error("the watch ended");
    if (fits(value)) return value;
  }
}

const numbersOf = ({ now }: WatchActivityResponse) =>
  Object.entries(now!).filter(([name]) => name !== "time" && !name.startsWith("$"));
const statuses = ({ health }: WatchActivityResponse) =>
  health!.components.map(({ name, status, detail }) => [name, status, detail]);

test.each(WIRES)(
  "the application, its caller, its health and its activity over $protocol, $httpVersion",
  async (wire) => {
    const { client, pay } = await serve();
    pay(false);
    pay(true);
    const all = client("all", wire);
    const application = await all.get();
    expect(application).toMatchObject({
      name: "shop",
      version: "4.18.2",
      instance: hostname(),
      nodeVersion: process.versions.node,
      readOnly: false,
      caller: { name: "all", authentication: "token", loggers: [] },
      sessionStore: { kind: "memory", limits: {}, rawIds: false },
    });
    expect(application.services).toEqual(
      ["LoggersService", "LogsService", "SessionsService", "IntegrationGraphService"].map(
        (name) => `actuator.v3.${name}`,
      ),
    );
    expect(application.caller!.permissions).toContain("sessions:delete");
    expect(application.caller!.permissions).not.toContain("logs:read");

    const first = (await all.watch().next()).value as WatchActivityResponse;
    expect(first.samples).toHaveLength(1);
    expect(first.sampleInterval).toMatchObject({ seconds: 30n });
    expect(first.now).toMatchObject({ messagesPerMinute: 2, failingNodes: 1 });
    expect(first.health!.status).toBe("UP");
    expect(statuses(first)).toEqual([
      ["drain", "UP", ""],
      ["sessions", "UP", ""],
      ["bank", "UP", ""],
    ]);
    expect(first.health!.components[2]).toMatchObject({ sinceTime: {}, duration: {} });
    expect(first.nodes).toBe(2);
    const type = "service_activator";
    expect(first.failingNodes).toMatchObject([
      { name: "charge", integrationPatternType: type, failures: 1n, messages: 2n, history: [1] },
    ]);
  },
);

test("what the caller may not see is left out", async () => {
  const { client, pay } = await serve();
  pay(true);
  const ops = (await client("ops").watch().next()).value as WatchActivityResponse;
  expect(ops.health).toMatchObject({ status: "UP", components: [] });
  expect(ops.now).toMatchObject({ messagesPerMinute: 1, failingNodes: 1 });
  expect(ops.failingNodes).toHaveLength(1);
  expect((await client("ops").get()).sessionStore).toBeUndefined();
  expect((await client("ops").get()).caller).toMatchObject({ permissions: ["graph:read"], loggers: ["orders"] });

  const team = await until(client("team").watch(), ({ now }) => now!.sessions !== undefined);
  expect(statuses(team)).toHaveLength(3);
  expect(numbersOf(team)).toEqual([["sessions", 0n]]);
  expect([team.failingNodes, team.nodes]).toEqual([[], 0]);
  expect(team.samples.flatMap((sample) => Object.keys(sample))).not.toContain("failingNodes");
  const later = (await client("ops").watch().next()).value as WatchActivityResponse;
  expect(later.now!.sessions).toBeUndefined();
});

test("a check that fails and a node that fails are told", async () => {
  const { client, pay, state } = await serve();
  const watch = client("all").watch();
  await watch.next();
  state.isUp = false;
  const down = await until(watch, ({ health }) => health!.status === "DOWN");
  expect(statuses(down).at(-1)).toEqual(["bank", "DOWN", ""]);
  pay(true);
  const failing = await until(watch, ({ failingNodes }) => failingNodes.length > 0);
  expect(failing.samples).toEqual([]);
  expect(failing.failingNodes).toMatchObject([{ name: "charge", failures: 1n, messages: 1n }]);
});

test("without credentials there is no answer", async () => {
  const { url } = await serve();
  const service = createClient(ApplicationService, transportOver(WIRES[4]!, url));
  await expect(service.getApplication({})).rejects.toThrow("unauthenticated");
});

test("it says what the session store cannot do, and that nothing may be changed", async () => {
  const { client } = await serve({ sessions: cookieOnlySessions("iron-session"), readOnly: true });
  const { sessionStore, readOnly } = await client("all").get();
  expect(readOnly).toBe(true);
  expect(sessionStore!.kind).toBe("iron-session");
  const operations = ["find_by_id", "find_by_username", "list", "count", "delete"];
  expect(Object.keys(sessionStore!.limits).sort()).toEqual(operations.sort());
  for (const reason of Object.values(sessionStore!.limits)) expect(reason).toContain("live in the clients' cookies");
});

test("an application that serves nothing else has a health and no numbers", async () => {
  const parts = { loggers: undefined, sessions: undefined, integrationGraph: undefined, health: undefined };
  const { client } = await serve(parts);
  expect((await client("all").get()).services).toEqual([]);
  const first = (await client("all").watch().next()).value as WatchActivityResponse;
  expect(first.health).toMatchObject({ status: "UP", components: [] });
  expect(numbersOf(first)).toEqual([]);
});
