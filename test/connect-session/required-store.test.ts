import { describe, expect, it } from "vitest";
import { expressSessions } from "../../src/express-session/index.ts";
import { fastifySessions } from "../../src/fastify-session/index.ts";
import { koaSessions } from "../../src/koa-session/index.ts";
import { fileStoreSessions } from "../../src/session-file-store/index.ts";

class ContextStore {
  get(): void {}
  set(): void {}
  destroy(): void {}
}

describe.each([
  ["expressSessions", expressSessions],
  ["fastifySessions", fastifySessions],
  ["fileStoreSessions", fileStoreSessions],
  ["koaSessions", koaSessions],
] as const)("%s", (_, sessions) => {
  it.each([undefined, null, "store", {}, { get() {}, set() {} }, ContextStore, { store: new ContextStore() }])(
    "refuses %j, which is no store",
    (store) => {
      const attach = () => (sessions as (store: unknown) => unknown)(store);
      expect(attach).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT", metadata: { field: "store" } }));
    },
  );
});
