import { type EndpointPattern, isChannel, type PatternType } from "./pattern.ts";

/**
 * The canonical key of a node, from which its id follows. A channel belongs to everybody who uses it, so its key does
 * not name the application; an endpoint's does. An adapter that knows a broker gives its own keys, such as
 * `channel:rabbitmq:<cluster>:queue:<vhost>/<name>`.
 */
export function nodeKey(app: string, pattern: PatternType, name: string): string {
  return isChannel(pattern) ? `channel:${name}` : endpointKey(app, pattern, name);
}

function endpointKey(app: string, pattern: EndpointPattern, name: string): string {
  // The application's name is the only part before the last that may hold a colon of its own.
  return `endpoint:${app.replaceAll("%", "%25").replaceAll(":", "%3A")}:${pattern}:${name}`;
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

/** How many keys are remembered: enough for all that ever come and go, unless names are made up without end. */
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
