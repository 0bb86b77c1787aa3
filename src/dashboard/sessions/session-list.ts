import { signal } from "@preact/signals";
import type { Session } from "../../gen/actuator/v3/sessions_pb.ts";
import type { Fault } from "../link/messages.ts";
import type { Input, Output } from "../link/services.ts";

/** Which sessions a list shows: all or those of one user, in any state or in one. */
export interface ListedSessions {
  /** Empty: those of all users. */
  readonly username: string;
  /** undefined: expired ones, too. */
  readonly active: boolean | undefined;
}

/** What a list shows. */
export interface SessionListState {
  /** The sessions of the page in the order of the server. They do not move until another page is asked for. */
  readonly sessions: readonly Session[];
  /** False until the first answer. */
  readonly isLoaded: boolean;
  /** Whether another page is on its way. */
  readonly isLoading: boolean;
  /** Why the last call failed; the sessions are then those of the call before. */
  readonly fault: Fault | undefined;
  /** The number of the page, from 1. */
  readonly page: number;
  /** How many sessions the pages before have. */
  readonly before: number;
  readonly hasOlder: boolean;
  /** Whether the store was not searched to its end. */
  readonly isPartial: boolean;
  /** How many sessions the whole list had when its first page was read; undefined: the store does not tell. */
  readonly total: number | undefined;
  /** How many sessions the first page has by now that are not shown. */
  readonly fresh: number;
  /** The ids of shown sessions that the list no longer has. */
  readonly gone: ReadonlySet<string>;
}

const NOTHING_GONE: ReadonlySet<string> = new Set();

const EMPTY: SessionListState = {
  sessions: [],
  isLoaded: false,
  isLoading: false,
  fault: undefined,
  page: 1,
  before: 0,
  hasOlder: false,
  isPartial: false,
  total: undefined,
  fresh: 0,
  gone: NOTHING_GONE,
};

const PAGE_SIZE = 100;
/** How many empty pages are skipped: some stores filter a page after they have read it. */
const MAX_EMPTY_PAGES = 20;

type Ask = (request: Input<"sessions", "listSessions">) => Promise<Output<"sessions", "listSessions">>;

/** The place of a page: the token with which it begins, and the number of sessions before it. */
interface Place {
  readonly token: string;
  readonly before: number;
}

const FIRST: Place = { token: "", before: 0 };

/** A list of sessions, page by page. Going back works by the tokens of the pages that were shown. */
export class SessionList {
  readonly state = signal<SessionListState>(EMPTY);
  readonly #ask: Ask;
  #listed: ListedSessions = { username: "", active: undefined };
  #places: readonly Place[] = [FIRST];
  #next = "";
  /** Counts what was asked for: the answer to an earlier request is dropped. */
  #turn = 0;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Shows the first page of another list; the present content goes at once. */
  async open(listed: ListedSessions): Promise<void> {
    this.#listed = listed;
    this.state.value = EMPTY;
    await this.#load([FIRST], true);
  }

  /** Shows the newest state of the first page. */
  newest(): Promise<void> {
    return this.#load([FIRST], true);
  }

  /** Reads the present page again. */
  async reload(): Promise<void> {
    if (this.state.value.isLoaded) await this.#load(this.#places, this.#places.length === 1);
    else await this.newest();
  }

  async older(): Promise<void> {
    const { before, sessions, hasOlder } = this.state.value;
    if (!hasOlder) return;
    await this.#load([...this.#places, { token: this.#next, before: before + sessions.length }], false);
  }

  async newer(): Promise<void> {
    if (this.#places.length > 1) await this.#load(this.#places.slice(0, -1), false);
  }

  /**
   * Reads the first page again if it is shown: the sessions on it become current in their places, and those that are not on it are
   * counted.
   */
  async refresh(): Promise<void> {
    const { isLoaded, isLoading } = this.state.value;
    if (!isLoaded || isLoading || this.#places.length > 1) return;
    const turn = this.#turn;
    try {
      const page = await this.#read("", false);
      if (turn !== this.#turn) return;
      const { sessions } = this.state.value;
      const current = new Map(page.sessions.map((session) => [session.id, session]));
      const isWhole = page.nextPageToken === "" && !page.partial;
      this.#show({
        sessions: sessions.map((session) => current.get(session.id) ?? session),
        gone: isWhole ? new Set(sessions.map(({ id }) => id).filter((id) => !current.has(id))) : NOTHING_GONE,
        fresh: [...current.keys()].filter((id) => sessions.every((shown) => shown.id !== id)).length,
        isPartial: page.partial,
        fault: undefined,
      });
    } catch (error) {
      if (turn === this.#turn) this.#show({ fault: faultOf(error) });
    }
  }

  async #load(places: readonly Place[], withTotal: boolean): Promise<void> {
    const turn = ++this.#turn;
    const place = places.at(-1)!;
    this.#show({ isLoading: true });
    try {
      const page = await this.#read(place.token, withTotal);
      const size = page.totalSize === undefined ? undefined : Number(page.totalSize);
      const total = withTotal ? size : this.state.value.total;
      if (turn !== this.#turn) return;
      // A store that searches does not know which page is its last, and offers one more on which there is nothing.
      if (places.length > this.#places.length && page.sessions.length === 0 && page.nextPageToken === "") {
        this.#next = "";
        this.#show({ isLoading: false, fault: undefined, hasOlder: false });
        return;
      }
      this.#places = places;
      this.#next = page.nextPageToken;
      this.#show({
        sessions: [...new Map(page.sessions.map((session) => [session.id, session])).values()],
        isLoaded: true,
        isLoading: false,
        fault: undefined,
        page: places.length,
        before: place.before,
        hasOlder: this.#next !== "",
        isPartial: page.partial,
        fresh: 0,
        gone: NOTHING_GONE,
        total,
      });
    } catch (error) {
      if (turn !== this.#turn) return;
      const fault = faultOf(error);
      // A token is worth nothing after a restart with another key.
      if (fault.code === "INVALID_ARGUMENT" && place.token !== "") await this.newest();
      else this.#show({ isLoading: false, fault });
    }
  }

  /** Reads a page; one without sessions that is not the last is passed over. */
  async #read(token: string, includeTotal: boolean): Promise<Output<"sessions", "listSessions">> {
    const { username, active } = this.#listed;
    const request = { username, pageSize: PAGE_SIZE, ...(active !== undefined && { active }) };
    const first = await this.#ask({ ...request, pageToken: token, includeTotal });
    let page = first;
    for (let skipped = 0; skipped < MAX_EMPTY_PAGES; skipped++) {
      if (page.sessions.length > 0 || page.nextPageToken === "") break;
      page = await this.#ask({ ...request, pageToken: page.nextPageToken });
    }
    return page === first ? page : { ...page, partial: page.partial || first.partial, totalSize: first.totalSize! };
  }

  #show(changed: Partial<SessionListState>): void {
    this.state.value = { ...this.state.value, ...changed };
  }
}

/** The fault of a `CallError`, which is not imported: this file is free of the browser. */
function faultOf(error: unknown): Fault {
  const { fault } = error as { fault?: Fault };
  return fault ?? { code: "UNKNOWN", reason: "", message: String(error), metadata: {} };
}
