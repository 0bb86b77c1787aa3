import { undoing } from "../../adapters/kit/interception/replaced-method.ts";
import { hasStoreMethods, sessionsIn, usedAlready } from "../connect-store.ts";
import type { Findings, Library } from "../library.ts";
import { onAssigned, onSight } from "../sighting.ts";

interface ExpressSession {
  readonly Store: { readonly prototype: object };
  readonly Session: { readonly prototype: object };
}

/** A session of a request. */
interface RequestSession {
  readonly req?: { readonly sessionStore?: object };
}

/**
 * `session()` assigns `generate` to its store. A setter on the prototype of all stores sees that, and makes the property that the
 * assignment would have made. A store that exists already is seen when a request uses it: it makes sessions from what it has, and the
 * session of each request is touched.
 */
export const expressSession: Library = {
  watch: (exports, findings) =>
    onAssigned((exports as ExpressSession).Store.prototype, "generate", findings, (store) =>
      findings.store(store, () => sessionsIn(store, "express-session")),
    ),
  meet(exports, findings) {
    const { Store, Session } = exports as ExpressSession;
    return undoing([
      onSight(Store.prototype, "createSession", findings, (store) => see(store, findings), { again: true }),
      onSight(Session.prototype, "touch", findings, (session) => {
        const store = (session as RequestSession).req?.sessionStore;
        if (store !== undefined) see(store, findings);
      }),
    ]);
  },
  inHeap: { classes: { Store: ["regenerate", "load", "createSession"] } },
  recognize(object, findings) {
    const { generate } = object as { readonly generate?: unknown };
    if (typeof generate !== "function" || !Object.hasOwn(object, "generate") || !hasStoreMethods(object)) return false;
    see(object, findings);
    return true;
  },
};

function see(store: object, findings: Findings): void {
  findings.store(store, () => sessionsIn(usedAlready(store), "express-session"));
}
