import type { StoreCallback } from "./store-call.ts";

/**
 * A session store of the connect family, as express-session defined it and @fastify/session took it over: methods with
 * callbacks, of which `get`, `set` and `destroy` are always there.
 */
export interface ConnectStore {
  get(id: string, callback: StoreCallback<object>): unknown;
  set(id: string, record: object, callback?: StoreCallback<never>): unknown;
  destroy(id: string, callback?: StoreCallback<never>): unknown;
  touch?(id: string, record: object, callback?: StoreCallback<never>): unknown;
  all?(callback: StoreCallback<object>): unknown;
  length?(callback: StoreCallback<number>): unknown;
  clear?(callback?: StoreCallback<never>): unknown;
}
