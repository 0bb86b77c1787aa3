import type { KoaStore, koaSessions } from "../../adapters/sessions/koa/index.ts";
import type { cookieOnlySessions } from "../../sessions/cookie-only.ts";
import { usedAlready } from "../connect-store.ts";
import type { Findings, Library } from "../library.ts";
import { part } from "../parts.ts";
import { onSight, replaceInPlace } from "../sighting.ts";

/** `koa-session` exports the schema of its options, with which it parses those of each middleware. */
interface KoaSession {
  readonly SessionOptions?: object;
}

/** The options of a middleware. A `ContextStore` is made anew for each request. */
interface MiddlewareOptions {
  readonly store?: KoaStore | undefined;
  readonly ContextStore?: unknown;
}

/** `koa-session/…/context.js` exports the class of what a request has of its session. */
interface Context {
  readonly ContextSession?: { readonly prototype: object };
}

/** The options of a middleware are parsed when it is made. A request's `initFromExternal` shows a store that was there before. */
export const koaSession: Library = {
  watch(exports, findings) {
    const { SessionOptions } = exports as KoaSession;
    if (SessionOptions === undefined) return () => {};
    return replaceInPlace(SessionOptions, "parse", (method, isLive) => {
      return function (this: object, ...args) {
        const result = Reflect.apply(method, this, args);
        if (isLive()) findings.carefully(() => see(args[0] as MiddlewareOptions, findings));
        return result;
      };
    });
  },
  meet(exports, findings) {
    const prototype = (exports as Context).ContextSession?.prototype;
    if (prototype === undefined) return () => {};
    return onSight(prototype, "initFromExternal", findings, (session) => {
      const { store, opts } = session as { store: KoaStore; opts: MiddlewareOptions };
      if (!opts.ContextStore) findings.store(store, () => sessionsOf(usedAlready(store)));
    });
  },
  inHeap: { classes: { ContextSession: ["initFromExternal", "initFromCookie"] } },
};

function see(options: MiddlewareOptions, findings: Findings): void {
  const { store, ContextStore } = options;
  if (ContextStore) return;
  if (store) findings.store(store, () => sessionsOf(store));
  else findings.store(options, inCookies);
}

function sessionsOf(store: KoaStore) {
  return part<{ koaSessions: typeof koaSessions }>("adapters/sessions/koa/index").koaSessions(store);
}

function inCookies() {
  const { cookieOnlySessions: make } = part<{ cookieOnlySessions: typeof cookieOnlySessions }>("sessions/cookie-only");
  return make("koa-session");
}
