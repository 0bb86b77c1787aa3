import type { RedisMessagingClient, redisSource } from "../../adapters/graph/redis/index.ts";
import { GraphObjects } from "../graph-objects.ts";
import { libraryCall } from "../identity.ts";
import type { Findings, Library, Undo } from "../library.ts";
import { part } from "../parts.ts";
import { replaceInPlace } from "../sighting.ts";

type Client = RedisMessagingClient & {
  /** The inner client that several proxies of node-redis stand for. */
  readonly _self?: Client;
  once(event: "end", listener: () => void): unknown;
  off(event: "end", listener: () => void): unknown;
};

const objects = new GraphObjects<RedisMessagingClient>(() =>
  part<{ redisSource: typeof redisSource }>("adapters/graph/redis/index").redisSource(),
);

/** What begins a message, or a transaction in which there may be one. */
const COMMANDS: ReadonlySet<unknown> = new Set(
  "publish spublish subscribe psubscribe ssubscribe xadd xread xreadgroup xack xgroup multi"
    .split(" ")
    .flatMap((name) => [name, name.toUpperCase()]),
);

/** Libraries that send by clients of their own, and whose own adapters show what they send. */
const SHOWN_OTHERWISE: ReadonlySet<string | undefined> = new Set([
  "connect-actuator",
  "bullmq",
  "@nestjs/microservices",
]);

/**
 * Clients of Redis are shown from their first command for channels, streams or transactions, with that command, until they are closed: most
 * clients are caches, and have nothing to show. Commands of BullMQ, of microservices of NestJS and of clusters do not count. Redis is not
 * asked for anything, so channels and groups that only other processes use are not shown.
 */
export const ioredis: Library = {
  watch: (exports, findings, path) =>
    watchClients(exports, findings, path, {
      sendCommand: ([command]) => (command as { name?: unknown } | undefined)?.name,
    }),
  inHeap: { classes: { default: ["handleReconnection", "setStatus", "silentEmit"] } },
  recognize: (object, findings) => {
    const { condition } = object as { readonly condition?: { readonly subscriber?: unknown } | null };
    return Boolean(condition?.subscriber) && recognized(object, findings);
  },
};

/** As {@link ioredis}. Subscribers from before it was watched are found only in the heap, because they receive without a method. */
export const nodeRedis: Library = {
  watch: (exports, findings, path) =>
    watchClients(exports, findings, path, {
      sendCommand: ([command]) => (Array.isArray(command) ? command[0] : undefined),
      SUBSCRIBE: () => "subscribe",
      PSUBSCRIBE: () => "psubscribe",
      SSUBSCRIBE: () => "ssubscribe",
      MULTI: () => "multi",
    }),
  inHeap: { classes: { default: ["getPubSubListeners", "sendCommand"] } },
  recognize: (object, findings) =>
    (object as { readonly isPubSubActive?: unknown }).isPubSubActive === true && recognized(object, findings),
};

function recognized(object: object, findings: Findings): boolean {
  return objects.watch(object as Client, findings);
}

/** Watches the clients by whose methods commands are sent. Each method is given with what returns the name of its command. */
function watchClients(
  exports: object,
  findings: Findings,
  path: string,
  methods: Readonly<Record<string, (args: readonly unknown[]) => unknown>>,
): Undo {
  const { prototype } = (exports as { default: { prototype: object } }).default;
  const known = new WeakSet<object>();
  const open = new Map<Client, () => void>();

  function see(client: Client, command: unknown): void {
    const { from, through } = libraryCall(path);
    if (SHOWN_OTHERWISE.has(from) || through.some((file) => /[/\\]cluster[/\\]/.test(file))) return;
    // Transactions of BullMQ begin when its scripts have been loaded.
    if (from === undefined && command === "multi") return;
    known.add(client);
    if (!objects.watch(client, findings)) return;
    const ended = () => {
      open.delete(client);
      known.delete(client);
      objects.unwatch(client, findings);
    };
    open.set(client, ended);
    client.once("end", ended);
  }

  const undo = Object.entries(methods).map(([key, commandOf]) =>
    replaceInPlace(prototype, key, (method, isLive) => {
      return function (this: object, ...args: unknown[]): unknown {
        const client = (this as Client)._self ?? (this as Client);
        if (!isLive() || known.has(client)) return Reflect.apply(method, this, args);
        const command = commandOf(args);
        if (!COMMANDS.has(command)) return Reflect.apply(method, this, args);
        findings.carefully(() => see(client, command));
        const own: unknown = Reflect.get(this, key);
        const isReplaced = known.has(client) && own !== Reflect.get(prototype, key) && typeof own === "function";
        return Reflect.apply(isReplaced ? own : method, this, args);
      };
    }),
  );
  return () => {
    for (const each of undo) each();
    for (const [client, ended] of open) client.off("end", ended);
    open.clear();
  };
}
