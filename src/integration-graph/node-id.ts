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

/**
 * Ids from keys. An id is its key's hash, so it is the same in every run and every instance; when another key holds
 * that hash, the key is hashed again with a suffix. A key keeps its id for the life of this object.
 */
export class NodeIds {
  readonly #hash: (text: string) => number;
  readonly #keys = new Map<number, string>();
  /** Ids that decided where another key went. They stay taken even while their node is away. */
  readonly #pinned = new Set<number>();

  constructor(hash: (text: string) => number = hash31) {
    this.#hash = hash;
  }

  /** The id of `key`, taken from now on. */
  take(key: string): number {
    for (let attempt = 0; ; attempt++) {
      const id = this.#hash(attempt === 0 ? key : `${key}#${attempt}`);
      const holder = this.#keys.get(id);
      if (holder === undefined || holder === key) {
        this.#keys.set(id, key);
        if (attempt > 0) this.#pinned.add(id);
        return id;
      }
      this.#pinned.add(id);
    }
  }

  /** The node of `id` is gone. Its key gets the same id when it comes back. */
  release(id: number): void {
    if (!this.#pinned.has(id)) this.#keys.delete(id);
  }
}
