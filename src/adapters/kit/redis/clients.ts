import { requireVersion } from "../library-version.ts";

/** Sends commands through one kind of client. A command is not sent any more once `signal` is aborted. */
export interface RedisSender {
  send(args: readonly Argument[], buffers: boolean, signal: AbortSignal): Promise<unknown>;
  nodes?(): Promise<readonly RedisSender[]>;
  /** A command was not answered in time. */
  late?(): void;
  close?(): Promise<void>;
}

/** One word of a command. */
export type Argument = string | Buffer;

/** A client of node-redis 5 or 6, or a pool of them. */
export interface NodeRedisClient {
  sendCommand(args: Argument[], options?: object): Promise<unknown>;
}

/** A cluster of node-redis 5 or 6. */
export interface NodeRedisCluster {
  readonly masters: readonly unknown[];
  nodeClient(node: never): unknown;
  sendCommand(
    firstKey: Argument | undefined,
    isReadonly: boolean,
    args: Argument[],
    options?: object,
  ): Promise<unknown>;
}

/** Clients of node-redis 5 or 6 behind sentinels. */
export interface NodeRedisSentinel {
  getSentinelNode(): unknown;
  sendCommand(isReadonly: boolean, args: Argument[], options?: object): Promise<unknown>;
}

/** A client or a cluster of ioredis 5 or 6, without `keyPrefix`. */
export interface IoRedisClient {
  readonly status: string;
  readonly options?: object;
  call(command: string, ...args: Argument[]): Promise<unknown>;
  callBuffer(command: string, ...args: Argument[]): Promise<unknown>;
  on(event: string, listener: () => void): unknown;
  off(event: string, listener: () => void): unknown;
  /** Only clusters have it. */
  nodes?(role: "master"): IoRedisClient[];
}

/** Anything else that sends commands. */
export interface CommandClient {
  command(args: readonly Argument[]): Promise<unknown>;
  /** Needed for values that are not UTF-8. */
  commandForBuffers?(args: readonly Argument[]): Promise<unknown>;
}

/** A Redis client of the application: of node-redis, of ioredis, or anything that sends commands. */
export type RedisClient = NodeRedisClient | NodeRedisCluster | NodeRedisSentinel | IoRedisClient | CommandClient;

/** Returns the sender for a client of the application; undefined for an unknown object. */
export function senderOf(client: unknown): RedisSender | undefined {
  const isIoRedis = hasMethods(client, ["call", "callBuffer", "on", "off"]);
  if (isIoRedis) requireVersion({ library: "ioredis", versions: "5 to 6" });
  else if (hasMethods(client, ["sendCommand"])) requireNodeRedis(client);
  if (hasMethods(client, ["sendCommand", "nodeClient"])) return clusterSender(client as unknown as NodeRedisCluster);
  if (hasMethods(client, ["sendCommand", "getSentinelNode"])) {
    return sentinelSender(client as unknown as NodeRedisSentinel);
  }
  if (isIoRedis) return ioRedisSender(client as unknown as IoRedisClient);
  if (hasMethods(client, ["sendCommand"])) return nodeRedisSender(client as unknown as NodeRedisClient);
  if (hasMethods(client, ["command"])) return commandSender(client as unknown as CommandClient);
  return undefined;
}

/** @throws ActuatorError FAILED_PRECONDITION if the client is of node-redis before version 5, which brought this method. */
export function requireNodeRedis(client: unknown): void {
  if (!hasMethods(client, ["withTypeMapping"])) requireVersion({ library: "redis", versions: "5 to 6" });
}

function hasMethods(client: unknown, methods: readonly string[]): client is object {
  return (
    typeof client === "object" &&
    client !== null &&
    methods.every((method) => typeof Reflect.get(client, method) === "function")
  );
}

/** By their first byte in the protocol: https://redis.io/docs/latest/develop/reference/protocol-spec/#resp-protocol-description. */
const [BULK_STRING, MAP, VERBATIM_STRING] = [36, 37, 61];
const TYPES_FOR_TEXTS = { [MAP]: Array };
const TYPES_FOR_BUFFERS = { [MAP]: Array, [BULK_STRING]: Buffer, [VERBATIM_STRING]: Buffer };

/** These replace what the application has set for its own commands; the deadline is ours alone. */
function nodeRedisOptions(buffers: boolean, abortSignal: AbortSignal): object {
  return { typeMapping: buffers ? TYPES_FOR_BUFFERS : TYPES_FOR_TEXTS, abortSignal, timeout: undefined };
}

/** Returns the sender for a client of node-redis or a pool of them. */
export function nodeRedisSender(client: NodeRedisClient): RedisSender {
  return { send: (args, buffers, signal) => client.sendCommand([...args], nodeRedisOptions(buffers, signal)) };
}

function clusterSender(cluster: NodeRedisCluster): RedisSender {
  return {
    send: (args, buffers, signal) => cluster.sendCommand(args[1], false, [...args], nodeRedisOptions(buffers, signal)),
    nodes: async () =>
      Promise.all(
        cluster.masters.map(async (node) =>
          nodeRedisSender((await cluster.nodeClient(node as never)) as NodeRedisClient),
        ),
      ),
  };
}

function sentinelSender(sentinel: NodeRedisSentinel): RedisSender {
  return { send: (args, buffers, signal) => sentinel.sendCommand(false, [...args], nodeRedisOptions(buffers, signal)) };
}

function ioRedisSender(client: IoRedisClient): RedisSender {
  const { nodes } = client;
  const { caller, lastSent } = capturing(client);
  return {
    ...(nodes && { nodes: async () => nodes.call(client, "master").map(ioRedisSender) }),
    async send([command, ...args], buffers, signal) {
      // ioredis would queue the command, and nothing removes it from the queue.
      if (client.status !== "ready" && client.status !== "wait") await ioRedisReady(client, signal);
      signal.throwIfAborted();
      const method = buffers ? "callBuffer" : "call";
      const reply = caller[method](String(command), ...args);
      const sent = lastSent();
      const recall = () => sent && disarm(sent);
      signal.addEventListener("abort", recall);
      try {
        return plain(await reply, buffers);
      } finally {
        signal.removeEventListener("abort", recall);
      }
    },
  };
}

interface IoRedisCommand {
  name: string;
  args: unknown[];
}

/**
 * Wraps the client to capture the command object that it sent last. Its option enableAutoPipelining is off, because with it
 * `callBuffer` takes the key for the command (ioredis 6.0.0); commands of one turn travel together all the same.
 */
function capturing(client: IoRedisClient) {
  let last: IoRedisCommand | undefined;
  const value = (command: IoRedisCommand, ...rest: unknown[]) => {
    last = command;
    return Reflect.apply(Reflect.get(client, "sendCommand"), client, [command, ...rest]);
  };
  const options = { ...client.options, enableAutoPipelining: false };
  const caller: IoRedisClient = Object.create(client, { sendCommand: { value }, options: { value: options } });
  const lastSent = () => {
    const sent = last;
    last = undefined;
    return sent;
  };
  return { caller, lastSent };
}

/**
 * Turns a command into a PING. On its next connection ioredis resends whatever was not answered on the last one
 * (autoResendUnfulfilledCommands), however long ago; a command that was reported as failed must not run then.
 */
function disarm(command: IoRedisCommand): void {
  command.name = "ping";
  command.args = [];
}

/** One pair of listeners for all commands that wait: Node.js warns of a leak from the eleventh on. */
const readiness = new WeakMap<IoRedisClient, Promise<void>>();

function ioRedisReady(client: IoRedisClient, signal: AbortSignal): Promise<void> {
  if (client.status === "end") return Promise.reject(closed());
  return new Promise((resolve, reject) => {
    const aborted = () => reject(signal.reason);
    signal.addEventListener("abort", aborted);
    readyOf(client)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", aborted));
  });
}

function readyOf(client: IoRedisClient): Promise<void> {
  const known = readiness.get(client);
  if (known !== undefined) return known;
  const ready = new Promise<void>((resolve, reject) => {
    const done = (settle: () => void) => () => {
      for (const [event, listener] of Object.entries(events)) client.off(event, listener);
      readiness.delete(client);
      settle();
    };
    const events = { ready: done(resolve), end: done(() => reject(closed())) };
    for (const [event, listener] of Object.entries(events)) client.on(event, listener);
  });
  readiness.set(client, ready);
  return ready;
}

function closed(): Error {
  return new Error("Connection is closed.");
}

/** Flattens the maps that ioredis may be configured to make of replies into the lists they are otherwise. */
function plain(reply: unknown, buffers: boolean): unknown {
  if (typeof reply !== "object" || reply === null || Buffer.isBuffer(reply)) return reply;
  if (Array.isArray(reply)) {
    return reply.some((entry) => typeof entry === "object") ? reply.map((entry) => plain(entry, buffers)) : reply;
  }
  const entries = [...(reply instanceof Map ? reply : Object.entries(reply))];
  return entries.flatMap(([key, value]) => [
    buffers && typeof key === "string" ? Buffer.from(key) : key,
    plain(value, buffers),
  ]);
}

function commandSender(client: CommandClient): RedisSender {
  return {
    async send(args, buffers) {
      if (!buffers) return client.command(args);
      if (client.commandForBuffers !== undefined) return client.commandForBuffers(args);
      throw new Error("The client cannot read bytes: it has no method commandForBuffers.");
    },
  };
}
