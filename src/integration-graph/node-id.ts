import { type EndpointPattern, isChannel, type PatternType } from "./pattern.ts";
import { redact } from "./redact.ts";

/** The longest key, in UTF-16 code units. */
export const MAX_KEY_LENGTH = 1_024;

/**
 * The canonical key of a node, from which its id follows. A channel belongs to all applications that use it, so its key does
 * not name the application; an endpoint's does. An adapter that knows a broker provides its own keys: see
 * {@link channelKey}.
 */
export function nodeKey(app: string, pattern: PatternType, name: string): string {
  return isChannel(pattern) ? `channel:${name}` : endpointKey(app, pattern, name);
}

/**
 * The key of a broker's destination, the same in every application. `broker` is its identity as the host of an adapter returns it;
 * `kind` distinguishes destinations that may have the same name.
 *
 * @example
 * ```ts
 * channelKey("rabbitmq", "main", "queue", "/shop/orders"); // "channel:rabbitmq:main:queue:/shop/orders"
 * ```
 */
export function channelKey(system: string, broker: string, kind: string, name: string): string {
  return `${channelPrefix(system, broker)}${part(kind)}:${redact(name)}`;
}

/** How the keys of all channels of a broker begin. */
export function channelPrefix(system: string, broker: string): string {
  return `channel:${part(system)}:${part(redact(broker))}:`;
}

/**
 * The key of an application's endpoint, the same in every instance of it.
 *
 * @example
 * ```ts
 * endpointKey("shop", "service_activator", "orders.charge"); // "endpoint:shop:service_activator:orders.charge"
 * ```
 */
export function endpointKey(app: string, pattern: EndpointPattern, name: string): string {
  return `endpoint:${part(app)}:${pattern}:${name}`;
}

/** The parts of a key: the application of an endpoint, the broker of a channel. */
export interface KeyParts {
  readonly app?: string | undefined;
  readonly system?: string | undefined;
  readonly broker?: string | undefined;
  readonly kind?: string | undefined;
}

/** Reads a key. Returns no parts if it has none of the forms above. */
export function keyParts(key: string): KeyParts {
  const [, app] = /^endpoint:([^:]+):/.exec(key) ?? [];
  if (app !== undefined) return { app: whole(app) };
  const [, system, broker, kind] = BROKER_KEY.exec(key) ?? [];
  if (system === undefined || broker === undefined || kind === undefined) return {};
  return { system: whole(system), broker: whole(broker), kind: whole(kind) };
}

/** `key` without credentials. In a key of a broker the name stands alone: `queue://a@b` is a queue in the virtual host "/". */
export function redactedKey(key: string): string {
  const [prefix] = BROKER_KEY.exec(key) ?? [""];
  return redact(prefix) + redact(key.slice(prefix.length));
}

const BROKER_KEY = /^channel:([a-z][^:/@]*):([^:/][^:]*):([a-z][^:/@]*):/;

/** Only the last part of a key may contain a colon. */
function part(text: string): string {
  return text.replaceAll("%", "%25").replaceAll(":", "%3A");
}

function whole(part: string): string {
  return part.replaceAll("%3A", ":").replaceAll("%25", "%");
}

/** A hash of `text` in 1…2³¹−1: FNV-1a with a final mix, so that similar names lie far apart. */
export function hash31(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  hash ^= hash >>> 16;
  return hash >>> 1 || 1;
}

/** How many keys are remembered: enough for all that come and go, unless names are generated without end. */
const REMEMBERED_KEYS = 20_000;

/**
 * Ids from keys. An id is its key's hash, so it is the same in every run and every instance; when another key has that
 * id, the key is hashed again with a suffix. A key keeps its id while its node is away, as long as no more than 20,000
 * keys were seen; after that only where no other key with the same hash came in between.
 */
export class NodeIds {
  readonly #hash: (text: string) => number;
  readonly #keys = new Map<number, string>();

  constructor(hash: (text: string) => number = hash31) {
    this.#hash = hash;
  }

  /** The id of `key`, taken from now on. */
  take(key: string): number {
    for (let attempt = 0; ; attempt++) {
      const id = this.#hash(attempt === 0 ? key : `${key}#${attempt}`);
      const holder = this.#keys.get(id);
      if (holder !== undefined && holder !== key) continue;
      this.#keys.set(id, key);
      return id;
    }
  }

  /** The node of `id` is gone. */
  release(id: number): void {
    if (this.#keys.size > REMEMBERED_KEYS) this.#keys.delete(id);
  }
}
