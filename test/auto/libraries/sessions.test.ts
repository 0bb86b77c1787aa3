import { expect, test } from "vitest";
import { EXPRESS, expectAsExplicit, FASTIFY, KOA, runSessions, visited, wiring } from "./session-applications.ts";

test("express: found as with explicit wiring", () => expectAsExplicit(EXPRESS));

test("fastify: found as with explicit wiring", { tags: ["slow"] }, () => expectAsExplicit(FASTIFY));

test("an application that shows its store itself later keeps what it said, and nothing is there twice", async () => {
  const application = { ...EXPRESS, setup: EXPRESS.explicitSetup! };
  const more = `
    app.get("/explicit", (req, res) => {
      const actuator = createActuator({ name: "shop", sessions: { store: expressSessions(store), idKey: "x".repeat(16) } });
      res.json(Object.keys(Object.getOwnPropertyDescriptors(store)));
      app.get("/close", (req, res) => actuator.close().then(() => res.end()));
    });
    ${wiring(application).split("\n").slice(0, 2).join("\n")}
  `;
  const auto = runSessions({ ...application, code: more });
  const [visit] = await visited(auto);
  expect(await auto.shown()).toMatchObject({ ofUser: { sessions: [{}, {}] } });
  await visit!("/explicit");
  expect(await auto.describe()).toMatchObject({ origin: "created by the application", shows: { loggers: [] } });
  expect(await auto.shown()).toMatchObject({ ofUser: { sessions: [{}, {}] } });
  const { sessions } = await auto.rpc("ListSessions", { username: "ada" });
  expect(await auto.rpc("DeleteSession", { id: sessions[0].id })).toEqual({ existed: true });
  await visit!("/close");
  const without = runSessions(application, { preload: false });
  await visited(without);
  const [closed, before] = await Promise.all([auto, without].map(async (each) => (await each.browser())("/shape")));
  expect(JSON.parse(closed!)).toEqual(JSON.parse(before!));
});

test("several stores are found, each once", async () => {
  const two = `
    const staff = express();
    const staffStore = new session.MemoryStore();
    for (const name of ["a", "b"]) staff.use("/" + name, session({ ...options, name, store: staffStore }));
    staff.get("/:name", (req, res) => {
      req.session.user = "grace";
      res.end();
    });
    const staffServer = staff.listen(0, "127.0.0.1");
    app.get("/staff/:name", async (req, res) => {
      await fetch("http://127.0.0.1:" + staffServer.address().port + "/" + req.params.name);
      res.end();
    });
  `;
  const auto = runSessions({ ...EXPRESS, code: two });
  await visited(auto);
  await (await auto.browser())("/staff/a");
  await (await auto.browser())("/staff/b");
  const all = await auto.rpc("ListSessions", { includeTotal: true });
  expect(all).toMatchObject({ totalSize: "4" });
  expect(all.sessions.map(({ username }: { username: string }) => username).sort()).toEqual([
    "ada",
    "ada",
    "grace",
    "grace",
  ]);
  for (const { id } of all.sessions) expect(await auto.rpc("DeleteSession", { id })).toEqual({ existed: true });
  expect(await auto.rpc("ListSessions", { includeTotal: true })).toEqual({ totalSize: "0" });
});

test("koa-session without a store is said to keep its sessions in cookies", async () => {
  const auto = runSessions({ ...KOA, setup: "const store = undefined;" });
  await visited(auto);
  expect((await auto.describe()).shows.sessions).toEqual(["koa-session"]);
  expect(await auto.rpc("ListSessions", { username: "ada" })).toMatchObject({
    code: "unimplemented",
    message: expect.stringContaining("live in the clients' cookies"),
  });
});

test("a store that an adapter refuses is named in a notice, and everything else is shown", async () => {
  const odd = 'app.use("/odd", session({ ...options, store: Object.setPrototypeOf({}, session.Store.prototype) }));';
  const auto = runSessions({ ...EXPRESS, code: odd });
  await visited(auto);
  expect(await auto.shown()).toMatchObject({ ofUser: { sessions: [{}, {}] } });
  expect((await auto.describe()).notices).toEqual([expect.stringContaining("store must be the object with get, set")]);
});
