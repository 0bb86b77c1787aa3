import session, { type Store } from "express-session";
import memorystore from "memorystore";
import { afterEach, expect, it } from "vitest";
import { expressSessions } from "../../../../src/adapters/sessions/express-session/index.ts";
import { startApplication, type TestApplication } from "./application.ts";

let application: TestApplication | undefined;
afterEach(async () => {
  await application?.close();
  application = undefined;
});

const Memorystore = memorystore(session);
const stores: readonly (readonly [string, () => Store])[] = [
  ["MemoryStore", () => new session.MemoryStore()],
  ["memorystore", () => new Memorystore({})],
];

it.each(stores)("a slow request does not bring back a session of %s that was ended meanwhile", async (_, make) => {
  const store = make();
  const adapter = expressSessions(store);
  const begun = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  application = await startApplication(store, undefined, () => {
    begun.resolve();
    return answer.promise;
  });
  const browser = application.browser();
  await browser.post("/login/alice");
  const id = browser.sessionId!;
  const slow = browser.post("/basket");
  await begun.promise;
  expect(await adapter.delete?.(id)).toBe(true);
  answer.resolve();
  expect((await slow).status).toBe(200);
  expect(await adapter.findById(id)).toBeUndefined();
  expect(await (await browser.get("/")).json()).toEqual({ user: null });
  await browser.post("/login/alice");
  expect(browser.sessionId).not.toBe(id);
  expect(await adapter.findByUsername?.("alice")).toMatchObject({ sessions: [{ id: browser.sessionId }] });
});
