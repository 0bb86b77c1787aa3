import type { Store } from "express-session";
import type { expressSessions } from "../../adapters/sessions/express-session/index.ts";
import type { Findings, Library, Undo } from "../library.ts";
import { part } from "../parts.ts";

interface ExpressSession {
  readonly Store: { readonly prototype: object };
}

/**
 * `session()` assigns `generate` to its store. A setter on the prototype of all stores sees that, and makes the property that the
 * assignment would have made.
 */
export const expressSession: Library = {
  watch: (exports, findings) => watchStores((exports as ExpressSession).Store.prototype, findings),
};

function watchStores(prototype: object, findings: Findings): Undo {
  if (Object.hasOwn(prototype, "generate")) return () => {};
  Object.defineProperty(prototype, "generate", {
    configurable: true,
    enumerable: false,
    get: () => undefined,
    set(this: Store, value: unknown) {
      Object.defineProperty(this, "generate", { value, configurable: true, enumerable: true, writable: true });
      findings.carefully(() => findings.store(this, () => storeOf(this)));
    },
  });
  return () => Reflect.deleteProperty(prototype, "generate");
}

function storeOf(store: Store) {
  const express = part<{ expressSessions: typeof expressSessions }>("adapters/sessions/express-session/index");
  return express.expressSessions(store);
}
