import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import type { KV, KvEntry } from "@nats-io/kv";
import type { ConnectionOptions, NatsConnection } from "@nats-io/transport-node";
import { ActuatorError } from "../../../common/error.ts";
import { LONGEST_TIMER_MS } from "../../../common/timeout.ts";
import { endWith, type LinkUse } from "../../kit/fleet/connection.ts";
import { markOwnClient } from "../../kit/fleet/own-client.ts";
import type { NatsFleetOptions } from "./options.ts";

/** What the engine uses of one connection. */
export interface Link {
  /** The bucket with the document. */
  readonly state: KV;
  /** The bucket with the reports of instances. */
  readonly reports: KV;
  /** The largest message that the server accepts, in bytes. */
  readonly maxPayload: number;
  /** Gives a hint to all instances of the fleet. */
  publish(hint: string): void;
  /** The entries of `reports` that have one of these keys. */
  reportsWhose(isWanted: (key: string) => boolean): Promise<readonly KvEntry[]>;
}

/** For whom a connection is made. */
export interface NatsUse extends LinkUse {
  /** The name of the bucket with the document, with which that of the reports begins. */
  readonly bucket: string;
  /** Of the messages that carry hints. */
  readonly subject: string;
}

/** How long the server keeps a report, in milliseconds. */
const KEEP_MS = 60_000;
/** Entries that are read at once. */
const BATCH = 256;
/** More than the fleet waits: it then throws the connection away. */
const REQUEST_MS = 5_000;
/** Of a new connection: what is asked while JetStream elects a leader is never answered. */
const FIRST_REQUEST_MS = 2_000;

/** These replace what the application gives. */
const FIXED = {
  // The client would keep calls for later while it connects again.
  reconnect: false,
  waitOnFirstConnect: false,
  timeout: 3_000,
  // The fleet asks often enough to see that a connection is dead, and the timer of the client would keep the process alive.
  pingInterval: LONGEST_TIMER_MS,
  // Each instance hears its own hints, too.
  noEcho: false,
  noAsyncTraces: true,
};

/**
 * Connects to a server, and makes the buckets of the fleet if they are missing.
 *
 * @throws ActuatorError FAILED_PRECONDITION if a package is missing; what the client throws
 */
export async function dial(options: NatsFleetOptions, use: NatsUse): Promise<Link> {
  const { connect, jetstream, jetstreamManager, Kvm } = await packages();
  const { bucket, signal } = use;
  signal.throwIfAborted();
  // The client does not close the socket of a server that is silent from the start, and has no option to unreference one.
  const connection = await withSockets(
    () => connect(markOwnClient({ name: "connect-actuator fleet", ...options, ...FIXED } as ConnectionOptions)),
    (socket) => {
      socket.unref();
      endWith(signal, () => socket.destroy());
    },
  );
  markOwnClient(connection);
  unrefHeartbeat(connection);
  connection.closed().then((error) => use.onLost(error ?? new Error("the connection was closed")));
  endWith(signal, () => void connection.close().catch(() => {}));
  signal.throwIfAborted();
  connection.subscribe(use.subject, {
    callback: (error, message) => {
      if (error === null) use.onHint(message.string());
      else use.onLost(error);
    },
  });
  const manager = await jetstreamManager(connection, { timeout: REQUEST_MS, checkAPI: false });
  const bucketsWithin = (timeout: number) => new Kvm(jetstream(connection, { timeout, checkAPI: false }));
  const making = bucketsWithin(FIRST_REQUEST_MS);
  // Not read directly: a replica may not have yet what was just written.
  await making.create(bucket, { history: 1, allow_direct: false });
  await making.create(`${bucket}_instances`, { history: 1, storage: "memory", ttl: KEEP_MS, allow_direct: false });
  const buckets = bucketsWithin(REQUEST_MS);
  const state = await buckets.open(bucket, { allow_direct: false });
  const reports = await buckets.open(`${bucket}_instances`, { allow_direct: false });
  const prefix = `$KV.${bucket}_instances.`;
  return {
    state,
    reports,
    maxPayload: connection.info?.max_payload ?? Infinity,
    publish: (hint) => connection.publish(use.subject, hint),
    async reportsWhose(isWanted) {
      // No watch and no consumer: many of them bring JetStream down.
      const info = await manager.streams.info(`KV_${bucket}_instances`, { subjects_filter: `${prefix}>` });
      const keys = Object.keys(info.state.subjects ?? {}).map((subject) => subject.slice(prefix.length));
      const wanted = keys.filter(isWanted);
      const entries: (KvEntry | null)[] = [];
      for (let at = 0; at < wanted.length; at += BATCH) {
        entries.push(...(await Promise.all(wanted.slice(at, at + BATCH).map((key) => reports.get(key)))));
      }
      return entries.filter((entry) => entry?.operation === "PUT") as KvEntry[];
    },
  };
}

async function packages() {
  // Each with a handler of its own: bundlers then accept that it may be missing.
  const [{ connect }, { jetstream, jetstreamManager }, { Kvm }] = await Promise.all([
    import("@nats-io/transport-node").catch(missing),
    import("@nats-io/jetstream").catch(missing),
    import("@nats-io/kv").catch(missing),
  ]);
  return { connect, jetstream, jetstreamManager, Kvm };
}

function missing(cause: Error): never {
  const names = "@nats-io/transport-node @nats-io/jetstream @nats-io/kv";
  const message = `natsFleet needs the packages of NATS: npm install ${names}.`;
  throw new ActuatorError("FAILED_PRECONDITION", "PACKAGE_MISSING", message, { package: names }, { cause });
}

/** Gives the sockets that `open` makes, as they are made. */
async function withSockets<T>(open: () => Promise<T>, onSocket: (socket: Socket) => void): Promise<T> {
  const scope = new AsyncLocalStorage<true>();
  const made = (message: unknown) => {
    if (scope.getStore() === true) onSocket((message as { readonly socket: Socket }).socket);
  };
  subscribe("net.client.socket", made);
  try {
    return await scope.run(true, open);
  } finally {
    unsubscribe("net.client.socket", made);
    scope.disable();
  }
}

/** The client has no option for it. */
function unrefHeartbeat(connection: NatsConnection): void {
  const { protocol } = connection as {
    readonly protocol?: { readonly heartbeats?: { readonly timer?: NodeJS.Timeout } };
  };
  protocol?.heartbeats?.timer?.unref?.();
}
