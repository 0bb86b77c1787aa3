import diagnostics from "node:diagnostics_channel";
import { isRecord } from "../../common/record.ts";
import { hasStoreMethods, isKnownStore, sessionsIn, usedAlready } from "../connect-store.ts";
import type { Findings, Library, Undo } from "../library.ts";
import { replaceInPlace } from "../sighting.ts";

/** `fastify` publishes each instance here. */
const INSTANCES = "fastify.initialization";

interface Fastify {
  readonly fastify?: unknown;
}

/** `@fastify/session/lib/session.js` exports the class of the sessions of requests. */
interface SessionClass {
  readonly prototype?: object;
}

/**
 * `@fastify/session` decorates the requests of its instance with a getter of its store. A store that exists already is seen when a
 * request gets its session: the last statement of the constructor asks the session for its hash, and by then it has its store.
 */
export const fastifySession: Library = {
  watch: (exports, findings) => ((exports as Fastify).fastify === undefined ? () => {} : watchInstances(findings)),
  meet(exports, findings) {
    const { prototype = {} } = exports as SessionClass;
    const hash = Object.getOwnPropertySymbols(prototype).find(({ description }) => description === "hash");
    if (hash === undefined) return () => {};
    return replaceInPlace(prototype, hash, (method, isLive) => {
      return function (this: object) {
        if (isLive()) findings.carefully(() => seeStoreOf(this, findings));
        return method.call(this);
      };
    });
  },
  recognize(object, findings) {
    if (!isOwnStore(object) && !isKnownStore(object)) return false;
    see(object, findings);
    return true;
  },
};

/** The library's own store keeps its sessions in a Map. */
function isOwnStore(object: object): boolean {
  return (object as { readonly store?: unknown }).store instanceof Map && hasStoreMethods(object);
}

function watchInstances(findings: Findings): Undo {
  // Instances that nothing else holds may go.
  const instances: WeakRef<object>[] = [];
  const undos = new WeakMap<object, Undo>();
  const onInstance = (message: unknown) => {
    if (!isRecord(message) || !isRecord(message.fastify)) return;
    instances.push(new WeakRef(message.fastify));
    undos.set(message.fastify, watchDecorations(message.fastify, findings));
  };
  diagnostics.subscribe(INSTANCES, onInstance);
  return () => {
    diagnostics.unsubscribe(INSTANCES, onInstance);
    for (const reference of instances) {
      const instance = reference.deref();
      if (instance !== undefined) undos.get(instance)?.();
    }
  };
}

function watchDecorations(instance: object, findings: Findings): Undo {
  return replaceInPlace(instance, "decorateRequest", (method, isLive) => {
    return function (this: object, ...args) {
      const result = Reflect.apply(method, this, args);
      if (isLive() && args[0] === "sessionStore") {
        findings.carefully(() => {
          const store = storeOf(args[1]);
          if (store !== undefined) findings.store(store, () => sessionsIn(store, "@fastify/session"));
        });
      }
      return result;
    };
  });
}

/** Another plugin may decorate requests with this name, and by a getter that needs a request. */
function storeOf(decoration: unknown): object | undefined {
  if (!isRecord(decoration) || typeof decoration.getter !== "function") return undefined;
  try {
    const store: unknown = decoration.getter();
    return isRecord(store) && typeof store.destroy === "function" ? store : undefined;
  } catch {
    return undefined;
  }
}

function seeStoreOf(session: object, findings: Findings): void {
  const key = Object.getOwnPropertySymbols(session).find(({ description }) => description === "sessionStore");
  const store = key && (session as Readonly<Record<symbol, unknown>>)[key];
  if (isRecord(store)) see(store, findings);
}

function see(store: object, findings: Findings): void {
  findings.store(store, () => sessionsIn(usedAlready(store), "@fastify/session"));
}
