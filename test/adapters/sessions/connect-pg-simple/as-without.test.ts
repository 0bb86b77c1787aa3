// @module-tag slow
import express, { type Request, type RequestHandler } from "express";
import session, { type SessionData, type SessionOptions } from "express-session";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Browser } from "../../../support/browser.ts";
import { type PostgresServer, postgresFound, startPostgres } from "../../../support/postgres-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { startSite } from "../../../support/site.ts";
import { type TestStore, testStore } from "./store.ts";

type Done = (error?: unknown, found?: unknown) => void;

/** Resolves when it is done, well or ill. */
const whenDone = (begin: (done: Done) => void) =>
  new Promise<SessionData | undefined>((resolve) => begin((_, found) => resolve(found as SessionData | undefined)));

const COPY = "a copy";

/** What an application may do with the session of a request. Nothing here saves what it has destroyed before. */
const STEPS: Readonly<Record<string, (request: Request) => unknown>> = {
  change: ({ session }) => {
    session.basket = [...(session.basket ?? []), "pear"];
  },
  touch: ({ session }) => session.touch(),
  save: ({ session }) => whenDone((done) => session.save(done)),
  reload: ({ session }) => whenDone((done) => session.reload(done)),
  regenerate: ({ session }) => whenDone((done) => session.regenerate(done)),
  destroy: ({ session }) => whenDone((done) => session.destroy(done)),
  "set to null": (request) => {
    request.session = null as never;
  },
  copy: ({ session, sessionStore }) => whenDone((done) => sessionStore.set(COPY, session, done)),
  "save as plain data": ({ session, sessionID, sessionStore }) =>
    whenDone((done) => sessionStore.set(sessionID, { ...session }, done)),
  async "take the copy's place"(request) {
    const found = await whenDone((done) => request.sessionStore.get(COPY, done));
    if (found != null) request.sessionStore.createSession(request, found);
  },
  "destroy the copy": ({ sessionStore }) => whenDone((done) => sessionStore.destroy(COPY, done)),
};

/** A request: whether it brings the cookies of those before it, and what is done with its session. */
interface Visit {
  readonly known: boolean;
  readonly steps: readonly string[];
}

const anyVisits: fc.Arbitrary<Visit[]> = fc.array(
  fc.record({ known: fc.boolean(), steps: fc.array(fc.constantFrom(...Object.keys(STEPS)), { maxLength: 4 }) }),
  { minLength: 1, maxLength: 6 },
);

const anyOptions: fc.Arbitrary<Partial<SessionOptions>> = fc.record({
  resave: fc.boolean(),
  rolling: fc.boolean(),
  saveUninitialized: fc.boolean(),
  unset: fc.constantFrom("keep", "destroy"),
  cookie: fc.constantFrom({ maxAge: 60_000 }, {}),
});

describe.runIf(requirement("postgresql", postgresFound))("sessions that no one else ends", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  /** What visits leave in the table, and the ids that their browsers have after each. */
  async function leftBy(visits: readonly Visit[], options: Partial<SessionOptions>, { store, pool, table }: TestStore) {
    await pool.query(`DELETE FROM ${table}`);
    let made = 0;
    const perform: RequestHandler = async (request, response) => {
      for (const step of String(request.query.steps).split(",")) {
        if (request.session != null) await STEPS[step]?.(request);
      }
      response.end();
    };
    const app = express();
    app.use(session({ store, secret: "of a test", genid: () => `${++made}`, ...options }), perform);
    const { base, close } = await startSite(app);
    try {
      let browser = new Browser(base, /=s:([^.]+)\./);
      const shown: (string | undefined)[] = [];
      for (const { known, steps } of visits) {
        if (!known) browser = new Browser(base, /=s:([^.]+)\./);
        await browser.get(`/?steps=${encodeURIComponent(steps.join())}`);
        shown.push(browser.sessionId);
      }
      const { rows } = await pool.query(`SELECT sid, sess FROM ${table} ORDER BY sid`);
      return { shown, rows: rows.map(({ sid, sess: { cookie: _, ...data } }) => ({ sid, data })) };
    } finally {
      await close();
    }
  }

  it("are in the table as they are without the adapter, whatever the application does with them", async () => {
    const [watched, plain] = [await testStore(server), await testStore(server)];
    await plain.sessions.detach();
    // Each application listens to its store for good.
    for (const { store } of [watched, plain]) store.setMaxListeners(0);
    await fc.assert(
      fc.asyncProperty(anyVisits, anyOptions, async (visits, options) => {
        expect(await leftBy(visits, options, watched)).toEqual(await leftBy(visits, options, plain));
      }),
      { numRuns: 150 },
    );
  });
});
