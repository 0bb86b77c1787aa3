import type { Session } from "../../../sessions/session.ts";
import type { SessionPage } from "../../../sessions/store.ts";
import type { SessionIndex } from "../../kit/redis/session-index.ts";
import type { Corrections } from "./corrections.ts";
import { FIRST_KEYS, type KeysPosition, type SessionKeys } from "./session-keys.ts";
import type { SessionReader } from "./session-reader.ts";

const BY_ACCESS = "a";
const BY_KEY = "k";

/** Whether the list that this position belongs to goes by last access. */
export function goesByAccess(after: string): boolean {
  return after.startsWith(BY_ACCESS);
}

/** A page of the list by last access, from the index. What it holds and the store does not is left to `corrections`. */
export async function pageByAccess(
  index: SessionIndex,
  reader: SessionReader,
  corrections: Corrections,
  limit: number,
  after: string | undefined,
): Promise<Omit<SessionPage, "partial">> {
  const accesses = await index.newest(limit, after?.slice(BY_ACCESS.length));
  const sessions = await reader.read(
    accesses.map(({ id }) => id),
    accesses.map(({ accessedTime }) => accessedTime),
  );
  for (const [at, session] of sessions.entries()) {
    if (session === undefined) corrections.doubt(accesses[at]!.id);
  }
  const last = accesses.length < limit ? undefined : accesses.at(-1);
  return { sessions: sessions.filter(isSession), next: last && BY_ACCESS + last.position };
}

/** Milliseconds for which a page is looked for among keys of which few are sessions. */
const SEARCH_TIME = 500;

/**
 * A page of the list in the order of Redis' own table, for want of an index. A step of the walk may bring more keys than
 * fit: then the position says how many of them had their turn.
 */
export async function pageByKey(
  keys: SessionKeys,
  reader: SessionReader,
  limit: number,
  after: string | undefined,
): Promise<Omit<SessionPage, "partial">> {
  const began = performance.now();
  let { at, skip } = positionOf(after);
  const ids = new Set<string>();
  while (true) {
    const step = await keys.step(at, limit);
    const fresh = step.ids.slice(skip);
    const taken = fresh.slice(0, limit - ids.size);
    for (const id of taken) ids.add(id);
    if (taken.length < fresh.length) {
      return { sessions: await present(reader, ids), next: textOf(at, skip + taken.length) };
    }
    if (step.next === undefined) return { sessions: await present(reader, ids), next: undefined };
    at = step.next;
    skip = 0;
    if (ids.size >= limit || performance.now() - began >= SEARCH_TIME) {
      return { sessions: await present(reader, ids), next: textOf(at, skip) };
    }
  }
}

async function present(reader: SessionReader, ids: ReadonlySet<string>): Promise<Session[]> {
  return (await reader.read([...ids])).filter(isSession);
}

function isSession(session: Session | undefined): session is Session {
  return session !== undefined;
}

function textOf({ node, cursor }: KeysPosition, skip: number): string {
  return `${BY_KEY}${node} ${cursor} ${skip}`;
}

function positionOf(after: string | undefined): { at: KeysPosition; skip: number } {
  if (after === undefined) return { at: FIRST_KEYS, skip: 0 };
  const [node, cursor, skip] = after.slice(BY_KEY.length).split(" ");
  return { at: { node: Number(node), cursor: cursor ?? "0" }, skip: Number(skip) };
}
