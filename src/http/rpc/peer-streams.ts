import { setTimeout as delay } from "node:timers/promises";
import type { HandlerContext } from "@connectrpc/connect";
import type { ActuatorError } from "../../common/error.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import type { FleetInstance } from "../../fleet/instance.ts";
import { type FleetPeers, reasonOf, whyNotAsked } from "./fleet-peers.ts";
import type { LocalClients } from "./local-calls.ts";

const RETRY_MS = 5_000;

/** What is asked of each instance, and who is told. The next message of an instance is read when its promise is fulfilled. */
export interface PeerStream<Message> {
  readonly selector: string;
  readonly ask: (clients: LocalClients, signal: AbortSignal) => AsyncIterable<Message>;
  message(instance: string, message: Message): void | Promise<void>;
  /** It does not answer, or is not asked. */
  unread(instance: string, reason: string): void | Promise<void>;
  /** It is no longer among them. */
  gone(instance: string): void;
  /** There may be something new: who is followed, or whether the engine answers. */
  changed(): void;
}

interface Followed {
  /** What it is followed by: with another address, or after a restart, it is followed anew. */
  readonly as: string;
  readonly end: AbortController;
  /** Whether it answers. */
  isRead: boolean;
  /** Whether the engine knows it. One that answers is followed all the same: an engine may have lost what it knew. */
  isKnown: boolean;
}

/** The same stream of all instances that match, those that start later too. One that ends is asked for again every 5 seconds. */
export class PeerStreams<Message> {
  readonly #peers: FleetPeers;
  readonly #stream: PeerStream<Message>;
  readonly #context: HandlerContext;
  readonly #followed = new Map<string, Followed>();
  readonly #stop: () => void;
  #isKnown = false;
  #unavailable: ActuatorError | undefined;

  /** @throws ActuatorError INVALID_ARGUMENT for the selector */
  constructor(fleet: Fleet, peers: FleetPeers, stream: PeerStream<Message>, context: HandlerContext) {
    this.#peers = peers;
    this.#stream = stream;
    this.#context = context;
    this.#stop = fleet.watchInstances(stream.selector, (seen) => {
      // Those that are followed go on without the engine.
      if (seen instanceof Error) this.#unavailable = this.#isKnown ? undefined : seen;
      else this.#follow(seen);
      stream.changed();
    });
  }

  /** Why there are no instances: the engine has not answered yet, and does not. */
  get unavailable(): ActuatorError | undefined {
    return this.#unavailable;
  }

  /** The ids of the instances; undefined until the engine has answered. */
  get instances(): readonly string[] | undefined {
    return this.#isKnown ? [...this.#followed.keys()] : undefined;
  }

  close(): void {
    this.#stop();
    for (const { end } of this.#followed.values()) end.abort();
  }

  #follow(seen: readonly FleetInstance[]): void {
    this.#isKnown = true;
    const ids = new Set(seen.map(({ id }) => id));
    for (const [id, followed] of this.#followed) {
      followed.isKnown = ids.has(id);
      if (!followed.isKnown && !followed.isRead) this.#leave(id, followed);
    }
    for (const [at, instance] of seen.entries()) {
      const { id, address, host, startTime } = instance;
      const whyNot = whyNotAsked(instance, at);
      const as = JSON.stringify([whyNot, address, host, startTime]);
      const known = this.#followed.get(id);
      if (known?.as === as) continue;
      known?.end.abort();
      const followed: Followed = { as, end: new AbortController(), isRead: false, isKnown: true };
      this.#followed.set(id, followed);
      if (whyNot === undefined) void this.#read(instance, followed);
      else void this.#stream.unread(id, whyNot);
    }
  }

  #leave(id: string, { end }: Followed): void {
    end.abort();
    this.#followed.delete(id);
    this.#stream.gone(id);
    this.#stream.changed();
  }

  async #read(instance: FleetInstance, followed: Followed): Promise<void> {
    const { ask, message: tell, unread } = this.#stream;
    const { signal } = followed.end;
    while (!signal.aborted) {
      let reason = "it has ended the stream";
      try {
        const clients = await this.#peers.clients(instance, this.#context);
        for await (const message of ask(clients, signal)) {
          if (signal.aborted) return;
          followed.isRead = true;
          await tell(instance.id, message);
        }
      } catch (error) {
        reason = reasonOf(error);
      }
      if (signal.aborted) return;
      followed.isRead = false;
      if (!followed.isKnown) return this.#leave(instance.id, followed);
      await unread(instance.id, reason);
      // It rejects when the stream has ended.
      await delay(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}
