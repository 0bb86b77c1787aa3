import type { Session } from "./session.ts";
import {
  requireAbility,
  type SessionPage,
  type SessionQuery,
  type SessionSearch,
  type SessionStore,
  type SessionStoreLimits,
} from "./store.ts";

/** An ability of a store that its limits can exclude. */
type Ability = "findByUsername" | "list" | "delete";

const NO_STORE: SessionStoreLimits = { findById: "There is no session store yet." };

/** Several session stores as one, of which more can be added at any time. */
export interface SessionStores extends SessionStore {
  /** Adds a store. Returns a function that takes it away again; the store is not detached. */
  add(store: SessionStore): () => void;
}

/**
 * Shows several session stores as one, and takes more of them later. Lists show the sessions of one store after the other. Searches and
 * lists are partial if one of the stores cannot search or list.
 *
 * @example
 * ```ts
 * const stores = sessionStores(expressSessions(customers));
 * createActuator({ sessions: stores });
 * stores.add(expressSessions(staff));
 * ```
 */
export function sessionStores(...stores: readonly SessionStore[]): SessionStores {
  // Its optional methods come and go with the stores.
  return new CombinedStores(stores) as SessionStores;
}

class CombinedStores {
  /** By number, in the order in which they were added. A number is never used again, because page tokens hold it. */
  readonly #stores = new Map<number, SessionStore>();
  #added = 0;

  constructor(stores: readonly SessionStore[]) {
    for (const store of stores) this.add(store);
  }

  add(store: SessionStore): () => void {
    const number = this.#added++;
    this.#stores.set(number, store);
    return () => void this.#stores.delete(number);
  }

  /** The kinds of all stores, such as `connect-redis, memory`. */
  get kind(): string {
    return [...new Set(this.#all().map(({ kind }) => kind))].join(", ") || "empty";
  }

  get bearerIds(): boolean {
    return this.#all().some(({ bearerIds }) => bearerIds);
  }

  get limits(): SessionStoreLimits | undefined {
    const all = this.#all();
    if (all.length === 0) return NO_STORE;
    return all.every(({ limits }) => limits?.findById !== undefined) ? all[0]!.limits : limitsOf(all);
  }

  async findById(id: string): Promise<Session | undefined> {
    return (await this.#owners(id))[0]?.session;
  }

  get findByUsername(): SessionStore["findByUsername"] {
    const able = this.#able("findByUsername");
    return (
      able &&
      (async (username) =>
        merged(await Promise.all(able.stores.map((each) => each.findByUsername!(username))), able.all))
    );
  }

  get list(): SessionStore["list"] {
    const able = this.#able("list");
    return able && ((query) => this.#page(query, able.all));
  }

  get count(): SessionStore["count"] {
    const all = this.#all();
    if (all.length === 0) return undefined;
    return async (query) => {
      const counts = await Promise.all(all.map((store) => store.count?.(query)));
      return counts.includes(undefined) ? undefined : counts.reduce((sum: number, count) => sum + count!, 0);
    };
  }

  async findIdByDigest(digest: string): Promise<string | null | undefined> {
    const found = await answersOf(this.#reachable(), async (store) => store.findIdByDigest?.(digest), isText);
    // Only if every store knows that it has no such session.
    return found.find(isText) ?? (found.every((each) => each === null) ? null : undefined);
  }

  get delete(): SessionStore["delete"] {
    return this.#able("delete") && ((id) => this.#delete(id));
  }

  async warnings(): Promise<readonly string[]> {
    return (await Promise.all(this.#all().map(async (store) => (await store.warnings?.()) ?? []))).flat();
  }

  async detach(): Promise<void> {
    await Promise.all(this.#all().map((store) => store.detach?.()));
  }

  #all(): readonly SessionStore[] {
    return [...this.#stores.values()];
  }

  /** The stores with an ability, and whether these are all; undefined if there is none. */
  #able(ability: Ability): { stores: readonly SessionStore[]; all: boolean } | undefined {
    const all = this.#all();
    const stores = all.filter((store) => store[ability] !== undefined);
    return stores.length === 0 ? undefined : { stores, all: stores.length === all.length };
  }

  #reachable(): readonly SessionStore[] {
    return this.#all().filter(({ limits }) => limits?.findById === undefined);
  }

  /** The stores that have a session: more than one if they keep their sessions in the same place. */
  async #owners(id: string): Promise<readonly Owner[]> {
    const look = async (store: SessionStore) => ({ store, session: await store.findById(id) });
    return (await answersOf(this.#reachable(), look, isOwner)).filter(isOwner);
  }

  async #delete(id: string): Promise<boolean> {
    const owners = await this.#owners(id);
    const ending = owners.filter(({ store }) => store.delete !== undefined);
    if (owners.length > 0 && ending.length === 0) requireAbility(owners[0]!.store, "delete");
    return (await Promise.all(ending.map(({ store }) => store.delete!(id)))).includes(true);
  }

  /** A page of the first store that has one after the position `<number of the store> <position in it>`. */
  async #page({ limit, after, active }: SessionQuery, all: boolean): Promise<SessionPage> {
    const [, number, position] = /^(\d+) (.*)$/s.exec(after ?? "0 ")!;
    const first = Number(number);
    const sessions: Session[] = [];
    let partial = !all;
    for (const [at, store] of this.#stores) {
      if (at < first || store.list === undefined) continue;
      if (sessions.length === limit) return { sessions, partial, next: `${at} ` };
      const inStore = at === first && position !== "" ? position : undefined;
      const page = await store.list({ limit: limit - sessions.length, after: inStore, active });
      sessions.push(...page.sessions);
      partial ||= page.partial;
      if (page.next !== undefined) return { sessions, partial, next: `${at} ${page.next}` };
    }
    return { sessions, partial };
  }
}

interface Owner {
  readonly store: SessionStore;
  readonly session: Session;
}

function isOwner(each: { readonly session: Session | undefined }): each is Owner {
  return each.session !== undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** Asks all stores. One that is out of reach is an error only if no other has an answer. */
async function answersOf<Answer>(
  stores: readonly SessionStore[],
  ask: (store: SessionStore) => Promise<Answer>,
  isAnswer: (answer: Answer) => boolean,
): Promise<readonly Answer[]> {
  const settled = await Promise.allSettled(stores.map(ask));
  const answers = settled.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const failed = settled.find((each) => each.status === "rejected");
  if (failed !== undefined && !answers.some(isAnswer)) throw failed.reason;
  return answers;
}

function merged(found: readonly SessionSearch[], all: boolean): SessionSearch {
  const byId = new Map(found.flatMap(({ sessions }) => sessions.map((session) => [session.id, session])));
  return { sessions: [...byId.values()], partial: !all || found.some(({ partial }) => partial) };
}

/** Why all stores lack an ability, in the words of the first. */
function limitsOf(all: readonly SessionStore[]): SessionStoreLimits {
  const why = (ability: Ability) =>
    all.every((store) => store[ability] === undefined)
      ? all.map(({ limits }) => limits?.[ability]).find((each) => each !== undefined)
      : undefined;
  return { findByUsername: why("findByUsername"), list: why("list"), delete: why("delete") };
}
