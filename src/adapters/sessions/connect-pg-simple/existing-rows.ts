import type { ConnectStore } from "../../kit/connect-session/store.ts";
import { watchStore } from "../../kit/connect-session/watch.ts";
import { replaceMethod } from "../../kit/interception/replaced-method.ts";
import { quotedTableOf } from "./store.ts";

/**
 * Lets the store save a session that it has had before only where its row is still there. By itself it would insert the row
 * anew, and so bring back a session that was ended while a request was under way, by whatever process or statement. One
 * statement of the database decides, so that no moment is left in which a save could slip through.
 *
 * Everything else is sent as the store wrote it; so is each save of a connect-pg-simple that words its statement otherwise.
 * Returns what gives the store back as it was.
 *
 * @throws ActuatorError INVALID_ARGUMENT where connect-pg-simple did not make the store.
 */
export function keepToExistingRows(store: ConnectStore): () => void {
  const [upsert, update] = statements(quotedTableOf(store));
  const stored = new WeakSet<object>();
  const watch = watchStore(store, {
    saved(_, record, __, isStored) {
      if (isStored) stored.add(record);
      // The same object may be saved under another id next, of which there is no row yet.
      else stored.delete(record);
    },
  });
  const restore = replaceMethod(store, "query", (query) => {
    return function (this: unknown, ...args: unknown[]) {
      const [text, values] = args;
      const writes = text === upsert && Array.isArray(values) && stored.has(values[0]);
      return Reflect.apply(query, this, writes ? args.with(0, update) : args);
    };
  });
  return () => {
    restore();
    watch.detach();
  };
}

/** What connect-pg-simple 10 sends, and what is sent in its place. */
function statements(table: string): readonly [upsert: string, update: string] {
  return [
    `INSERT INTO ${table} (sess, expire, sid) SELECT $1, to_timestamp($2), $3 ON CONFLICT (sid) DO UPDATE SET sess=$1, expire=to_timestamp($2) RETURNING sid`,
    `UPDATE ${table} SET sess=$1, expire=to_timestamp($2) WHERE sid = $3 RETURNING sid`,
  ];
}
