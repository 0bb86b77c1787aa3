import type { SessionRecord } from "../../../sessions/principal.ts";
import { parseRecord } from "../../kit/connect-session/record.ts";
import type { RedisCommands } from "../../kit/redis/client.ts";
import { lifetimesOf } from "../../kit/redis/lifetimes.ts";
import { valuesAt } from "../../kit/redis/values.ts";
import type { RedisStoreSettings, SessionSerializer } from "./settings.ts";

/** A session as it stands in Redis. */
export interface StoredSession {
  readonly id: string;
  readonly record: SessionRecord;
  /** When Redis drops it, in milliseconds since the epoch; Infinity: never. */
  readonly expiryTime: number;
}

/** How many sessions are asked for at once: more would keep other clients waiting, fewer would travel too often. */
const BATCH = 500;

/** The sessions that one store keeps in Redis. Reading them moves nothing. */
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

  /** Each session, or undefined where there is none: it is gone, or something else stands at its key. */
  async read(ids: readonly string[]): Promise<(StoredSession | undefined)[]> {
    if (ids.length <= BATCH) return this.#readBatch(ids);
    const sessions: (StoredSession | undefined)[] = [];
    for (let at = 0; at < ids.length; at += BATCH) {
      sessions.push(...(await this.#readBatch(ids.slice(at, at + BATCH))));
    }
    return sessions;
  }

  /** The texts at the keys of these ids. */
  texts(ids: readonly string[]): Promise<(string | null)[]> {
    return valuesAt(
      this.redis,
      ids.map((id) => this.key(id)),
    );
  }

  /** What a text says, as the store's serializer reads it; undefined where it cannot. */
  parse(text: string): Promise<SessionRecord | undefined> | SessionRecord | undefined {
    const { serializer } = this.settings;
    return serializer === JSON ? parseRecord(text) : parseWith(serializer, text);
  }

  /** Resolves to whether there was one, and to what it was. */
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
        if (!text || lifetime === GONE) return undefined;
        const record = await this.parse(text);
        const expiryTime = lifetime === ENDLESS ? Number.POSITIVE_INFINITY : now + lifetime;
        return record === undefined ? undefined : { id, record, expiryTime };
      }),
    );
  }
}

/** What Redis says of a key that never expires, and of none. */
const ENDLESS = -1;
const GONE = -2;

async function parseWith(serializer: SessionSerializer, text: string): Promise<SessionRecord | undefined> {
  try {
    return parseRecord(await serializer.parse(text));
  } catch {
    return undefined;
  }
}
