import type { NatsConnection, NatsJetStream, NatsTarget, natsSource } from "../../adapters/graph/nats/index.ts";
import { isOwnClient } from "../../adapters/kit/fleet/own-client.ts";
import { undoing } from "../../adapters/kit/interception/replaced-method.ts";
import { GraphObjects } from "../graph-objects.ts";
import type { Findings, Library, Undo } from "../library.ts";
import { part } from "../parts.ts";
import { onSight, replaceInPlace } from "../sighting.ts";

/** What the watched files export, one or the other. */
interface NatsExports {
  readonly NatsConnectionImpl?: { readonly prototype: object };
  readonly ProtocolHandler?: { readonly prototype: object };
  /** Version 3. */
  readonly jetstream?: (connection: NatsConnection) => NatsJetStream;
  /** Version 2. */
  readonly JetStreamClientImpl?: new (
    connection: NatsConnection,
    options: object,
  ) => NatsJetStream;
}

const objects = new GraphObjects<NatsTarget>(() =>
  part<{ natsSource: typeof natsSource }>("adapters/graph/nats/index").natsSource([], { streams: false }),
);

type MakeJetStream = (connection: NatsConnection) => NatsJetStream;

/** The connections of an application, and what makes clients of JetStream: either may come first. */
class Connections {
  readonly #findings: Findings;
  readonly #open = new Set<NatsConnection>();
  readonly #makers = new Set<MakeJetStream>();

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  see(connection: NatsConnection): void {
    if (this.#open.has(connection) || isOwnClient(connection) || !objects.watch(connection, this.#findings)) return;
    this.#open.add(connection);
    const closed = () => void this.#open.delete(connection);
    (connection.closed() as Promise<unknown>).then(closed, closed);
    for (const make of this.#makers) this.#seeJetStream(make, connection);
  }

  make(make: MakeJetStream): Undo {
    this.#makers.add(make);
    for (const connection of this.#open) this.#seeJetStream(make, connection);
    return () => void this.#makers.delete(make);
  }

  /** A client of our own stands for all clients of its connection, also those from before. */
  #seeJetStream(make: MakeJetStream, connection: NatsConnection): void {
    objects.watch(make(connection), this.#findings);
  }
}

const connectionsOf = new WeakMap<Findings, Connections>();

function connections(findings: Findings): Connections {
  let known = connectionsOf.get(findings);
  if (known === undefined) connectionsOf.set(findings, (known = new Connections(findings)));
  return known;
}

/**
 * Connections of NATS are shown when they are made, with their JetStream. The broker is not asked for anything: streams and consumers are
 * shown when the application uses them, and services of other processes and the fleet's connection are not.
 */
export const nats: Library = {
  watch(exports, findings) {
    const { NatsConnectionImpl, jetstream, JetStreamClientImpl } = exports as NatsExports;
    if (jetstream !== undefined) return connections(findings).make(jetstream);
    if (JetStreamClientImpl !== undefined) {
      return connections(findings).make((connection) => new JetStreamClientImpl(connection, {}));
    }
    if (NatsConnectionImpl === undefined) return () => {};
    return replaceInPlace(NatsConnectionImpl, "connect", (connect, isLive) => {
      return function (this: object, ...args: unknown[]): unknown {
        const connecting = Reflect.apply(connect, this, args);
        const see = (connection: unknown) => {
          if (isLive()) findings.carefully(() => connections(findings).see(connection as NatsConnection));
        };
        // Called before the application's own; a rejection stays the application's.
        if (connecting instanceof Promise && !isOwnClient(args[0])) connecting.then(see, () => {});
        return connecting;
      };
    });
  },
  meet(exports, findings) {
    const { NatsConnectionImpl, ProtocolHandler } = exports as NatsExports;
    const see = (connection: object) => connections(findings).see(connection as NatsConnection);
    return undoing([
      ...(NatsConnectionImpl === undefined ? [] : ["publish", "request", "subscribe"]).map((method) =>
        onSight(NatsConnectionImpl!.prototype, method, findings, see, { again: true }),
      ),
      ...(ProtocolHandler === undefined
        ? []
        : [
            onSight(ProtocolHandler.prototype, "processMsg", findings, (handler) =>
              see((handler as { readonly publisher: object }).publisher),
            ),
          ]),
    ]);
  },
  inHeap: {
    classes: {
      JetStreamClientImpl: ["jetstreamManager", "startBatch"],
      NatsConnectionImpl: ["publish", "requestMany", "respondMessage", "subscribe"],
    },
    exports: (prototype, name) => ({ [name]: prototype.constructor }),
  },
  recognize(object, findings) {
    if ((object as { readonly protocol?: unknown }).protocol === undefined) return false;
    connections(findings).see(object as NatsConnection);
    return true;
  },
};
