import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Session } from "../../../../src/sessions/session.ts";
import type { RedisServer } from "../../../support/redis-server.ts";

/** What Spring wrote, as fixture/README.md says. */
interface RecordedKey {
  readonly key: string;
  readonly type: "hash" | "set" | "zset" | "string";
  /** Milliseconds that it had left; -1: for ever. */
  readonly ttl: number;
  readonly value: unknown;
}

const fixture = join(import.meta.dirname, "fixture");
const recorded = JSON.parse(readFileSync(join(fixture, "redis.json"), "utf8")) as {
  readonly time: number;
  readonly keys: readonly RecordedKey[];
};

/** The clock of the moment in which the fixture was recorded, a little after the sessions were written. */
export const recordedClock = (): number => recorded.time;
/** The same for PostgreSQL, which was written last and read later. */
export const postgresText: string = readFileSync(join(fixture, "postgres.sql"), "utf8");

const PRINCIPAL = "org.springframework.session.FindByIndexNameSessionRepository.PRINCIPAL_NAME_INDEX_NAME";
export const zoe = "zoë 東京 🦊";
export const longName: string = "x".repeat(90);

/** One of the repositories of the fixture, by its namespace. */
export interface Repository {
  readonly namespace: string;
  readonly kind: "plain" | "indexed" | "webflux";
  readonly serializer: string;
}

export const repositories: readonly Repository[] = [
  ...["jdk", "jackson3", "jackson3-untyped", "jackson2"].flatMap((serializer) => [
    { namespace: `plain:${serializer}`, kind: "plain" as const, serializer },
    { namespace: `indexed:${serializer}`, kind: "indexed" as const, serializer },
  ]),
  { namespace: "sorted:jdk", kind: "indexed", serializer: "jdk" },
  { namespace: "webflux:jdk", kind: "webflux", serializer: "jdk" },
];

/** What is to be seen of a session of the fixture, but for its id and times. */
export type Seen = Pick<Session, "attributeNames" | "expired" | "maxInactiveInterval" | "username">;

/** The sessions that a repository kept. */
export function expected({ kind, serializer }: Pick<Repository, "serializer"> & { kind: string }): Seen[] {
  const principal = kind === "webflux" ? "PRINCIPAL_NAME_INDEX_NAME" : PRINCIPAL;
  const all: [number, string | undefined, string[], boolean?][] = [
    [1800, undefined, []],
    [1800, "alice", []],
    [60, "alice", ["cart", "theme"]],
    [1_000_000_000, zoe, ["größe", "🧺"]],
    [1800, longName, ["a".repeat(190)]],
    // The plain repository in Redis loses both.
    ...(kind === "plain"
      ? []
      : ([
          [-1, "never", []],
          [3, "expired", [], true],
        ] as [number, string, string[], boolean?][])),
    [1800, "changed", ["big"]],
  ];
  const seen = all.map(([maxInactiveInterval, username, attributes, expired = false]) => ({
    attributeNames: [...attributes, ...(username === undefined ? [] : [principal])].sort(),
    expired,
    maxInactiveInterval,
    username,
  }));
  if (serializer === "jdk") {
    const username = kind === "jdbc" ? "secured" : undefined;
    seen.push({ attributeNames: ["SPRING_SECURITY_CONTEXT"], expired: false, maxInactiveInterval: 1800, username });
  }
  return inOrder(seen);
}

export function seen(sessions: readonly Session[]): Seen[] {
  return inOrder(
    sessions.map(({ attributeNames, expired, maxInactiveInterval, username }) => ({
      attributeNames: [...attributeNames].sort(),
      expired,
      maxInactiveInterval,
      username,
    })),
  );
}

function inOrder(sessions: Seen[]): Seen[] {
  return sessions.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/** The recorded hashes of a namespace's sessions by id: each field's bytes. */
export function recordedHashes(namespace: string): Map<string, Readonly<Record<string, Buffer>>> {
  const start = `${namespace}:sessions:`;
  return new Map(
    recorded.keys
      .filter(({ key, type }) => type === "hash" && key.startsWith(start))
      .map(({ key, value }) => [
        key.slice(start.length),
        Object.fromEntries(Object.entries(value as Record<string, string>).map(([field, hex]) => [field, bytes(hex)])),
      ]),
  );
}

/** Puts everything that Spring wrote into an empty server, with the time that it has left. */
export async function loadRedis(server: RedisServer): Promise<void> {
  const command = server.command as unknown as (...args: (string | Buffer)[]) => Promise<unknown>;
  await command("FLUSHALL");
  for (const { key, type, ttl, value } of recorded.keys) {
    if (type === "string") await command("SET", key, bytes(value as string));
    if (type === "set") await command("SADD", key, ...(value as string[]).map(bytes));
    if (type === "hash") {
      await command("HSET", key, ...Object.entries(value as object).flatMap(([field, hex]) => [field, bytes(hex)]));
    }
    if (type === "zset") {
      await command("ZADD", key, ...(value as [string, number][]).flatMap(([hex, score]) => [`${score}`, bytes(hex)]));
    }
    if (ttl >= 0) await command("PEXPIRE", key, `${ttl}`);
  }
}

function bytes(hex: string): Buffer {
  return Buffer.from(hex, "hex");
}
