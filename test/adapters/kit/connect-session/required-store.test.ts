import { describe, expect, it } from "vitest";
import { expressSessions } from "../../../../src/adapters/sessions/express-session/index.ts";
import { fastifySessions } from "../../../../src/adapters/sessions/fastify/index.ts";
import { koaSessions } from "../../../../src/adapters/sessions/koa/index.ts";
import { fileStoreSessions } from "../../../../src/adapters/sessions/session-file-store/index.ts";

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
