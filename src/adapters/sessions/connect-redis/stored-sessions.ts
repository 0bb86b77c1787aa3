import type { SessionRecord } from "../../../sessions/principal.ts";
import { parseRecord } from "../../kit/connect-session/record.ts";
import type { RedisCommands } from "../../kit/redis/index.ts";
import { lifetimesOf, valuesAt } from "../../kit/redis/keys.ts";
import type { RedisStoreSettings, SessionSerializer } from "./settings.ts";

/** A session as Redis has it. */
export interface StoredSession {
  readonly id: string;
  readonly record: SessionRecord;
  /** When Redis drops it, in milliseconds since the epoch; Infinity: never. */
  readonly expiryTime: number;
}

/** How many sessions one command reads: more would keep other clients waiting, fewer would take too many round trips. */
const BATCH = 500;

/** What PTTL answers for a key that never expires, and for a missing one. */
const ENDLESS = -1;
const MISSING = -2;

/** Reads and deletes the sessions that one store keeps in Redis. Reading does not prolong them. */
export class StoredSessions {
  readonly redis: RedisCommands;
  readonly settings: RedisStoreSettings;

  constructor(redis: RedisCommands, settings: RedisStoreSettings) {
    this.redis = redis;
    this.settings = settings;
  }

  key(id: string): string {
    return this.settings.prefix + id;
  }

  /** Reads each session; undefined if it is gone, or its key holds something else. */
  async read(ids: readonly string[]): Promise<(StoredSession | undefined)[]> {
    const sessions: (StoredSession | undefined)[] = [];
    for (let at = 0; at < ids.length; at += BATCH) {
      sessions.push(...(await this.#readBatch(ids.slice(at, at + BATCH))));
    }
    return sessions;
  }

  /** Reads the strings at the keys of these ids. */
  texts(ids: readonly string[]): Promise<(string | null)[]> {
    return valuesAt(
      this.redis,
      ids.map((id) => this.key(id)),
    );
  }

  /** Parses a string with the store's serializer; undefined if it cannot. */
  parse(text: string): Promise<SessionRecord | undefined> | SessionRecord | undefined {
    const { serializer } = this.settings;
    return serializer === JSON ? parseRecord(text) : parseWith(serializer, text);
  }

  /** Deletes the session. Resolves to whether it existed, and its record. */
  async delete(id: string): Promise<{ readonly existed: boolean; readonly record: SessionRecord | undefined }> {
    const [[text], deleted] = await Promise.all([this.texts([id]), this.redis.command(["DEL", this.key(id)])]);
    return { existed: Number(deleted) > 0, record: text ? await this.parse(text) : undefined };
  }

  async #readBatch(ids: readonly string[]): Promise<(StoredSession | undefined)[]> {
    const keys = ids.map((id) => this.key(id));
    const [texts, lifetimes] = await Promise.all([valuesAt(this.redis, keys), lifetimesOf(this.redis, keys)]);
    const now = Date.now();
    return Promise.all(
      ids.map(async (id, at) => {
        const text = texts[at];
        const lifetime = lifetimes[at]!;
        if (!text || lifetime === MISSING) return undefined;
        const record = await this.parse(text);
        const expiryTime = lifetime === ENDLESS ? Number.POSITIVE_INFINITY : now + lifetime;
        return record === undefined ? undefined : { id, record, expiryTime };
      }),
    );
  }
}

async function parseWith(serializer: SessionSerializer, text: string): Promise<SessionRecord | undefined> {
  try {
    return parseRecord(await serializer.parse(text));
  } catch {
    return undefined;
  }
}
