import type { RedisMessagingClient, redisSource } from "../../adapters/graph/redis/index.ts";
import { isOwnClient } from "../../adapters/kit/fleet/own-client.ts";
import { undoing } from "../../adapters/kit/interception/replaced-method.ts";
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
const SHOWN_OTHERWISE: ReadonlySet<string | undefined> = new Set(["bullmq", "@nestjs/microservices"]);

/** The clients that are shown in one application. */
class Clients {
  readonly #findings: Findings;
  readonly #known = new WeakSet<object>();
  readonly #open = new Map<Client, () => void>();

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  has(client: Client): boolean {
    return this.#known.has(client);
  }

  /** Shows a client of the application until it is closed. Returns whether it was not shown before. */
  show(client: Client): boolean {
    if (this.#known.has(client) || isOwnClient(client)) return false;
    this.#known.add(client);
    if (!objects.watch(client, this.#findings)) return false;
    const ended = () => {
      this.#open.delete(client);
      this.#known.delete(client);
      objects.unwatch(client, this.#findings);
    };
    this.#open.set(client, ended);
    client.once("end", ended);
    return true;
  }

  end(): void {
    for (const [client, ended] of this.#open) client.off("end", ended);
    this.#open.clear();
  }
}

const clientsOf = new WeakMap<Findings, Clients>();

function clientsIn(findings: Findings): Clients {
  let clients = clientsOf.get(findings);
  if (clients === undefined) clientsOf.set(findings, (clients = new Clients(findings)));
  return clients;
}

/**
 * Clients of Redis are shown from their first command for channels, streams or transactions, with that command, until they are closed: most
 * clients are caches, and have nothing to show. Commands of BullMQ, of microservices of NestJS and of clusters do not count, nor clients of
 * the fleet. Redis is not asked for anything, so channels and groups that only other processes use are not shown.
 */
export const ioredis: Library = {
  watch(exports, findings, path) {
    const see = seeing(findings, path);
    const commandOf = ([command]: readonly unknown[]) => (command as { name?: unknown } | undefined)?.name;
    return undoing([
      () => clientsIn(findings).end(),
      onCall(exports, "sendCommand", findings, (client, args) => see(client, commandOf(args))),
    ]);
  },
  // Subscribers send no command any more.
  meet: (exports, findings) =>
    onCall(exports, "emit", findings, (client, [event]) => {
      if (MESSAGES.has(event)) findings.carefully(() => clientsIn(findings).show(client));
    }),
  inHeap: { classes: { default: ["handleReconnection", "setStatus", "silentEmit"] } },
  recognize: (object, findings) => {
    const { condition } = object as { readonly condition?: { readonly subscriber?: unknown } | null };
    return Boolean(condition?.subscriber) && clientsIn(findings).show(object as Client);
  },
};

/** The events by which subscribers of ioredis receive. */
const MESSAGES: ReadonlySet<unknown> = new Set(
  ["message", "pmessage", "smessage"].flatMap((event) => [event, `${event}Buffer`]),
);

/** As {@link ioredis}. Subscribers from before it was watched are found only in the heap, because they receive without a method. */
export const nodeRedis: Library = {
  watch(exports, findings, path) {
    const see = seeing(findings, path);
    return undoing([
      () => clientsIn(findings).end(),
      ...["SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "MULTI"].map((name) =>
        onCall(exports, name, findings, (client) => see(client, name)),
      ),
      onCall(exports, "sendCommand", findings, (client, [command]) => {
        if (Array.isArray(command)) see(client, command[0]);
      }),
    ]);
  },
  inHeap: { classes: { default: ["getPubSubListeners", "sendCommand"] } },
  recognize: (object, findings) =>
    (object as { readonly isPubSubActive?: unknown }).isPubSubActive === true &&
    clientsIn(findings).show(object as Client),
};

/** Shows the clients that send such commands, called through the library at `path`. */
function seeing(findings: Findings, path: string): (client: Client, command: unknown) => void {
  return (client, command) => {
    if (!COMMANDS.has(command)) return;
    findings.carefully(() => {
      const { from, through } = libraryCall(path);
      if (SHOWN_OTHERWISE.has(from) || through.some((file) => /[/\\]cluster[/\\]/.test(file))) return;
      // Transactions of BullMQ begin when its scripts have been loaded.
      if (from !== undefined || command !== "multi") clientsIn(findings).show(client);
    });
  };
}

/** Calls `see` before each call of a method on a client that is not shown. What replaces the method on the client is called then. */
function onCall(
  exports: object,
  key: string,
  findings: Findings,
  see: (client: Client, args: readonly unknown[]) => void,
): Undo {
  const { prototype } = (exports as { default: { prototype: object } }).default;
  const clients = clientsIn(findings);
  return replaceInPlace(prototype, key, (method, isLive) => {
    return function placed(this: object, ...args: unknown[]): unknown {
      const client = (this as Client)._self ?? (this as Client);
      if (!isLive() || clients.has(client)) return Reflect.apply(method, this, args);
      // Code around this method must not run twice.
      const isOutermost = Reflect.get(this, key) === placed;
      see(client, args);
      const own: unknown = isOutermost && clients.has(client) ? Reflect.get(this, key) : placed;
      return Reflect.apply(own === placed || typeof own !== "function" ? method : own, this, args);
    };
  });
}
