const MAX_ENTRIES = 256;
const MAX_KEY_LENGTH = 512;

/**
 * Remembers what a pure function made of the few header values that real clients send. It never holds more than 256
 * entries, so that invented values cost their sender time and not this process memory.
 */
export class BoundedCache<Value> {
  readonly #compute: (key: string) => Value;
  readonly #entries = new Map<string, Value>();

  constructor(compute: (key: string) => Value) {
    this.#compute = compute;
  }

  get(key: string): Value {
    const known = this.#entries.get(key);
    if (known !== undefined || this.#entries.has(key)) return known as Value;
    const value = this.#compute(key);
    if (key.length <= MAX_KEY_LENGTH) {
      if (this.#entries.size >= MAX_ENTRIES) this.#entries.clear();
      this.#entries.set(key, value);
    }
    return value;
  }
}
