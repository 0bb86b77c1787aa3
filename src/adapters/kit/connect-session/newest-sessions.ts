import type { SessionRecord } from "../../../sessions/principal.ts";

/** A session with the time that it is ordered by. */
export interface TimedSession {
  readonly id: string;
  readonly record: SessionRecord;
  readonly time: number;
}

/**
 * The sessions that come first when all are ordered by newest access and then by id, after a position in that order. Keeps
 * no more than it needs, however many it is offered.
 */
export class NewestSessions {
  readonly #limit: number;
  readonly #after: Pick<TimedSession, "id" | "time"> | undefined;
  #kept: TimedSession[] = [];

  /** @param after what `next` was for the sessions before. */
  constructor(limit: number, after?: string) {
    this.#limit = limit;
    this.#after = after === undefined ? undefined : positionOf(after);
  }

  offer(session: TimedSession): void {
    if (this.#after !== undefined && byNewest(session, this.#after) <= 0) return;
    this.#kept.push(session);
    if (this.#kept.length > 2 * this.#limit + 1) this.#cut(this.#limit + 1);
  }

  /** The first sessions in order, and the position of the last, where others follow. */
  first(): { sessions: readonly TimedSession[]; next: string | undefined } {
    this.#cut(this.#limit + 1);
    const sessions = this.#kept.slice(0, this.#limit);
    const last = sessions.at(-1);
    return {
      sessions,
      next: last !== undefined && this.#kept.length > this.#limit ? positionText(last) : undefined,
    };
  }

  #cut(length: number): void {
    this.#kept = this.#kept.sort(byNewest).slice(0, length);
  }
}

function byNewest(a: Pick<TimedSession, "id" | "time">, b: Pick<TimedSession, "id" | "time">): number {
  return b.time - a.time || (a.id === b.id ? 0 : a.id < b.id ? -1 : 1);
}

/** The place of a session in the order, as `next` says it. */
export function positionText({ time, id }: Pick<TimedSession, "id" | "time">): string {
  return `${time} ${id}`;
}

function positionOf(next: string): Pick<TimedSession, "id" | "time"> {
  const space = next.indexOf(" ");
  return { time: Number(next.slice(0, space)), id: next.slice(space + 1) };
}
