import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import connectPgSimple from "connect-pg-simple";
import express from "express";
import session, { type Store } from "express-session";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { connectPgSimpleSessions } from "../../../../src/adapters/sessions/connect-pg-simple/index.ts";
import { type PostgresServer, postgresFound, startPostgres } from "../../../support/postgres-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { startApplication as startExpress } from "../express-session/application.ts";
import { startApplication as startFastify } from "../fastify/application.ts";
import { expectNoUnhandledRejections, record, type TestStore, testStore } from "./store.ts";

expectNoUnhandledRejections();

type BeforeBasket = () => Promise<unknown>;
const LIBRARIES = {
  "express-session": (store: Store, beforeBasket?: BeforeBasket) => startExpress(store, undefined, beforeBasket),
  "express-session that saves whatever it loaded": (store: Store, beforeBasket?: BeforeBasket) =>
    startExpress(store, undefined, beforeBasket, { resave: true }),
  "@fastify/session": (store: Store, beforeBasket?: BeforeBasket) =>
    startFastify({ store: store as never, cookie: { maxAge: 60_000 } }, beforeBasket),
};

/** How a session is ended that is another instance's. */
const ENDS: Readonly<Record<string, (one: TestStore, id: string) => Promise<unknown>>> = {
  async "by an operator of another instance"({ pool, schema }, id) {
    const store = new (connectPgSimple(session))({ pool, schemaName: schema, pruneSessionInterval: false });
    const other = connectPgSimpleSessions(store);
    expect(await other.delete(id)).toBe(true);
    await other.detach();
    await store.close();
  },
  "by a statement": ({ pool, table }, id) => pool.query(`DELETE FROM ${table} WHERE sid = $1`, [id]),
  async "by its time, and was pruned,"({ pool, table, store }, id) {
    await pool.query(`UPDATE ${table} SET expire = now() - interval '1 minute' WHERE sid = $1`, [id]);
    const pgSimple = store as InstanceType<ReturnType<typeof connectPgSimple>>;
    await new Promise((resolve) => pgSimple.pruneSessions(resolve));
  },
};

/** Holds one request up: `begun` settles when it waits, and `goOn` lets it go on. */
function pausing() {
  const [begun, going] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  return {
    begun: begun.promise,
    goOn: going.resolve,
    wait() {
      begun.resolve();
      return going.promise;
    },
  };
}

describe.runIf(requirement("postgresql", postgresFound))("a session of connect-pg-simple", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  const stored = async ({ pool, table }: TestStore) =>
    (await pool.query(`SELECT sid, sess FROM ${table} ORDER BY sid`)).rows as { sid: string; sess: object }[];

  describe.each(Object.entries(LIBRARIES))("of %s", (_, start) => {
    it.each(Object.entries(ENDS))("stays ended that was ended %s while a request was under way", async (_, end) => {
      const one = await testStore(server);
      const pause = pausing();
      const application = await start(one.store, pause.wait);
      onTestFinished(() => application.close());
      const browser = application.browser();
      await browser.post("/login/ann");
      const basket = browser.post("/basket");
      await pause.begun;
      await end(one, browser.sessionId!);
      pause.goOn();
      expect((await basket).status).toBe(200);
      expect(await stored(one)).toEqual([]);
      expect(await (await browser.get("/")).json()).toEqual({ user: null });
    });

    it("is saved by each of its requests as long as it is there", async () => {
      const one = await testStore(server);
      const application = await start(one.store);
      onTestFinished(() => application.close());
      const browser = application.browser();
      await browser.post("/login/ann");
      await browser.post("/basket");
      expect(await stored(one)).toMatchObject([{ sess: { user: { username: "ann" }, basket: ["pear"] } }]);
      await browser.post("/logout");
      expect(await stored(one)).toEqual([]);
      await browser.post("/login/bob");
      expect(await stored(one)).toMatchObject([{ sess: { user: { username: "bob" } } }]);
    });
  });

  it("is saved by the store's own statements if the adapter is passive, also after it was ended elsewhere", async () => {
    const one = await testStore(server, { passive: true });
    const pause = pausing();
    const application = await startExpress(one.store, undefined, pause.wait);
    onTestFinished(() => application.close());
    const browser = application.browser();
    await browser.post("/login/ann");
    const [id] = (await stored(one)).map(({ sid }) => sid);
    const basket = browser.post("/basket");
    await pause.begun;
    await ENDS["by a statement"]!(one, id!);
    pause.goOn();
    await basket;
    expect(await stored(one)).toMatchObject([{ sid: id, sess: { basket: ["pear"] } }]);
    expect(await one.sessions.delete(id!)).toBe(true);
  });

  it("of express-session stays ended that the application ended while another of its requests was under way", async () => {
    const one = await testStore(server);
    const pause = pausing();
    const application = await startExpress(one.store, undefined, pause.wait);
    onTestFinished(() => application.close());
    const browser = application.browser();
    await browser.post("/login/ann");
    const basket = browser.post("/basket");
    await pause.begun;
    await browser.post("/logout");
    pause.goOn();
    await basket;
    expect(await stored(one)).toEqual([]);
  });

  /** Answers by what `handle` does with a request's session. */
  async function serve(store: Store, handle: express.RequestHandler, genid?: () => string): Promise<string> {
    const app = express();
    app.use(
      session({ store, secret: "of a test", resave: false, saveUninitialized: false, ...(genid && { genid }) }),
      handle,
    );
    const listening = createServer(app).listen(0, "127.0.0.1");
    await new Promise((resolve) => listening.once("listening", resolve));
    onTestFinished(() => {
      listening.close();
      listening.closeAllConnections();
    });
    return `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  }

  it("is saved again if its first save failed", async () => {
    const one = await testStore(server);
    const errors: unknown[] = [];
    const base = await serve(one.store, async (request, response) => {
      request.session.user = { username: "ann" };
      await one.pool.query(`ALTER TABLE ${one.table} RENAME TO gone`);
      await new Promise((resolve) => request.session.save(resolve)).then((error) => errors.push(error));
      await one.pool.query(`ALTER TABLE ${one.table.replace(/session$/, "gone")} RENAME TO session`);
      request.session.basket = ["pear"];
      response.end();
    });
    await fetch(base);
    expect(errors).toMatchObject([{ code: "42P01" }]);
    expect(await stored(one)).toMatchObject([{ sess: { basket: ["pear"] } }]);
  });

  it("is saved that the application took from elsewhere", async () => {
    const one = await testStore(server);
    const base = await serve(one.store, (request, response) => {
      const kept = { ...record(), user: { username: "ann" } };
      request.sessionStore.createSession(request, kept as never);
      request.session.basket = ["pear"];
      response.end();
    });
    await fetch(base);
    expect(await stored(one)).toMatchObject([{ sess: { basket: ["pear"] } }]);
  });

  it("is saved under another id than its own, and then still under its own", async () => {
    const one = await testStore(server);
    const saved = (handle: (done: (error?: unknown) => void) => void) =>
      new Promise<void>((resolve, reject) => handle((error) => (error ? reject(error) : resolve())));
    const base = await serve(one.store, async (request, response) => {
      request.session.basket = [...(request.session.basket ?? []), "pear"];
      const copy = `copy ${request.session.basket.length}`;
      await saved((done) => request.sessionStore.set(copy, request.session, done));
      await saved((done) => request.session.save(done));
      response.end(request.sessionID);
    });
    const first = await fetch(base);
    const cookie = first.headers.getSetCookie()[0]!.split(";", 1)[0]!;
    const sid = await first.text();
    await fetch(base, { headers: { cookie } });
    expect(await stored(one)).toMatchObject(
      [
        { sid, sess: { basket: ["pear", "pear"] } },
        { sid: "copy 1", sess: { basket: ["pear"] } },
        { sid: "copy 2", sess: { basket: ["pear", "pear"] } },
      ].sort((a, b) => (a.sid < b.sid ? -1 : 1)),
    );
  });

  it("is saved that was made of the record of another", async () => {
    const one = await testStore(server);
    await one.set("template", record({ user: { username: "ann" } }));
    const base = await serve(one.store, (request, response, next) => {
      request.sessionStore.get("template", (error, found) => {
        if (error) return next(error);
        request.sessionStore.createSession(request, found!);
        request.session.basket = ["pear"];
        response.end();
      });
    });
    await fetch(base);
    await one.pool.query(`DELETE FROM ${one.table} WHERE sid = 'template'`);
    expect(await stored(one)).toMatchObject([{ sess: { user: { username: "ann" }, basket: ["pear"] } }]);
  });

  it("is saved under the id of one that the application has ended", async () => {
    const one = await testStore(server);
    const base = await serve(
      one.store,
      (request, response, next) => {
        const before = request.session.basket?.length ?? 0;
        request.session.regenerate((error) => {
          if (error) return next(error);
          request.session.basket = new Array(before + 1).fill("pear");
          response.end();
        });
      },
      () => "always the same",
    );
    const first = await fetch(base);
    const cookie = first.headers.getSetCookie()[0]!.split(";", 1)[0]!;
    await fetch(base, { headers: { cookie } });
    expect(await stored(one)).toMatchObject([{ sid: "always the same", sess: { basket: ["pear", "pear"] } }]);
  });

  it("of @fastify/session is saved under the id of one that the application has ended", async () => {
    const one = await testStore(server);
    const options = { store: one.store as never, cookie: { maxAge: 60_000 }, idGenerator: () => "always the same" };
    const application = await startFastify(options);
    onTestFinished(() => application.close());
    const browser = application.browser();
    await browser.post("/become/ann");
    await browser.post("/logout");
    await browser.post("/become/bob");
    expect(await stored(one)).toMatchObject([{ sid: "always the same", sess: { user: { username: "bob" } } }]);
  });

  it("is saved by code without a request, whether it was there or not", async () => {
    const one = await testStore(server);
    await one.set("a", record());
    const kept = await new Promise<object>((resolve) => one.store.get("a", (_, found) => resolve(found!)));
    await one.pool.query(`DELETE FROM ${one.table}`);
    await one.set("a", kept);
    expect(await stored(one)).toMatchObject([{ sid: "a" }]);
  });

  it("is written as before once no adapter watches", async () => {
    const one = await testStore(server);
    const { query } = Object.getPrototypeOf(one.store) as { query: unknown };
    expect((one.store as unknown as { query: unknown }).query).not.toBe(query);
    await one.sessions.detach();
    expect((one.store as unknown as { query: unknown }).query).toBe(query);
  });
});
