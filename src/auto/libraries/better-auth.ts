import { AsyncLocalStorage } from "node:async_hooks";
import type { BetterAuthInstance, betterAuthSessions } from "../../adapters/sessions/better-auth/index.ts";
import type { cookieOnlySessions } from "../../sessions/cookie-only.ts";
import type { SessionStore } from "../../sessions/store.ts";
import type { Library } from "../library.ts";
import { part } from "../parts.ts";

/** `@better-auth/core/dist/context/global.mjs` exports what all copies of better-auth share. */
interface Global {
  __getBetterAuthGlobal?(): {
    readonly context: { endpointContextAsyncStorage?: AsyncLocalStorage<EndpointContext> };
  };
}

/** What an endpoint runs with. `context` is copied for each request, what is in it is not. */
interface EndpointContext {
  readonly context?: Awaited<BetterAuthInstance["$context"]> & Pick<BetterAuthInstance, "options">;
}

/**
 * better-auth makes plain objects by functions, and runs every endpoint in a storage that is made when it is first needed. It is made
 * here before that, and shows the instance when its first endpoint runs.
 */
export const betterAuth: Library = {
  watch(exports, findings) {
    const context = (exports as Global).__getBetterAuthGlobal?.().context;
    if (context === undefined) return () => {};
    const storage = (context.endpointContextAsyncStorage ??= new AsyncLocalStorage());
    if (Object.hasOwn(storage, "run")) return () => {};
    const known = new WeakSet<object>();
    const instances = new Set<string>();
    const run: AsyncLocalStorage<EndpointContext>["run"] = function (this: typeof storage, ...args: unknown[]) {
      const found = (args[0] as EndpointContext | undefined)?.context;
      if (found?.internalAdapter !== undefined && !known.has(found.internalAdapter)) {
        known.add(found.internalAdapter);
        findings.carefully(() => {
          const instance = nameOf(found.options);
          if (instances.has(instance)) return;
          instances.add(instance);
          findings.store(found.internalAdapter, () => sessionsOf(found));
        });
      }
      return Reflect.apply(AsyncLocalStorage.prototype.run, this, args);
    };
    Object.defineProperty(storage, "run", { value: run, configurable: true, writable: true });
    return () => {
      if (storage.run === run) Reflect.deleteProperty(storage, "run");
    };
  },
};

/** Some applications make their instance anew for each request. */
function nameOf({ baseURL, basePath, session, advanced }: Partial<Record<string, unknown>>): string {
  const { modelName } = (session ?? {}) as { readonly modelName?: unknown };
  const { cookiePrefix } = (advanced ?? {}) as { readonly cookiePrefix?: unknown };
  return JSON.stringify([baseURL, basePath, modelName, cookiePrefix]);
}

function sessionsOf({
  adapter,
  internalAdapter,
  tables,
  options,
}: NonNullable<EndpointContext["context"]>): SessionStore {
  const { database, secondaryStorage } = options;
  if (database === undefined && secondaryStorage === undefined) {
    const cookies = part<{ cookieOnlySessions: typeof cookieOnlySessions }>("sessions/cookie-only");
    return cookies.cookieOnlySessions("better-auth");
  }
  const made = part<{ betterAuthSessions: typeof betterAuthSessions }>("adapters/sessions/better-auth/index");
  // Not the whole context: it holds the session of the request that showed it.
  return made.betterAuthSessions({ options, $context: Promise.resolve({ adapter, internalAdapter, tables, options }) });
}
