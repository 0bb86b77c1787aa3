/** What is shown instead of a secret value. */
export const REDACTED = "[redacted]";

/** What is shown of a value for which there is no room. */
const CUT = "…[cut]";

/** Names of fields with secret values, without separators and in lower case. */
const SECRET_KEYS = [
  ..."password passwd passphrase pwd secret clientsecret privatekey apikey xapikey credential credentials".split(" "),
  ..."token accesstoken refreshtoken idtoken authtoken bearer jwt authorization proxyauthorization".split(" "),
  ..."cookie cookies setcookie sessionid sid connectsid csrftoken xsrftoken otp pin cvv cardnumber".split(" "),
];

/** How an assignment would make any field but `__proto__`. */
const PLAIN = { configurable: true, enumerable: true, writable: true } as const;

/** Names of fields are looked at once, unless an application makes more of them than this. */
const MAX_KNOWN_KEYS = 2_000;

/** Deeper values are not shown. */
const MAX_DEPTH = 8;

/** Replaces the values of secret fields, and cuts what has no room. */
export class Redaction {
  readonly #keys: ReadonlySet<string>;
  readonly #known = new Map<string, boolean>();
  readonly #isSecret = (key: string): boolean => {
    let isSecret = this.#known.get(key);
    if (isSecret === undefined) {
      if (this.#known.size >= MAX_KNOWN_KEYS) this.#known.clear();
      this.#known.set(key, (isSecret = this.#keys.has(plain(key))));
    }
    return isSecret;
  };

  /** @param keys more names of fields with secret values, in any case, with or without separators */
  constructor(keys: readonly string[] = []) {
    this.#keys = new Set([...SECRET_KEYS, ...keys.map(plain)]);
  }

  /** Begins a record that may have `room` characters. */
  begin(room: number): Redacting {
    return new Redacting(this.#isSecret, room);
  }
}

/** One record that is being redacted. */
export class Redacting {
  readonly #isSecret: (key: string) => boolean;
  #room: number;
  /** Whether something had no room. */
  cut = false;

  constructor(isSecret: (key: string) => boolean, room: number) {
    this.#isSecret = isSecret;
    this.#room = room;
  }

  /** The characters that are left. */
  get room(): number {
    return this.#room;
  }

  text(value: string): string {
    this.#room -= value.length;
    if (this.#room >= 0) return value;
    const fits = Math.max(0, value.length + this.#room);
    this.#room = 0;
    return this.#short(value.slice(0, fits) + CUT);
  }

  /** A value of JSON. */
  value(value: unknown, depth = 0): unknown {
    if (typeof value === "string") return this.text(value);
    if (typeof value !== "object" || value === null) {
      this.#room -= 8;
      return value;
    }
    if (depth >= MAX_DEPTH || this.#room <= 0) return this.#short(CUT);
    return Array.isArray(value) ? this.#list(value, depth) : this.fields(value as Record<string, unknown>, depth);
  }

  fields(fields: Readonly<Record<string, unknown>>, depth = 0): Record<string, unknown> {
    const shown: Record<string, unknown> = {};
    for (const key of Object.keys(fields)) {
      if (this.#room <= 0) {
        this.#short("");
        break;
      }
      this.#room -= key.length + 4;
      const value = this.#isSecret(key) ? REDACTED : this.value(fields[key], depth + 1);
      if (key === "__proto__") Object.defineProperty(shown, key, { ...PLAIN, value });
      else shown[key] = value;
    }
    return shown;
  }

  #list(values: readonly unknown[], depth: number): unknown[] {
    const shown: unknown[] = [];
    for (const value of values) {
      if (this.#room <= 0) {
        shown.push(this.#short(CUT));
        break;
      }
      this.#room -= 1;
      shown.push(this.value(value, depth + 1));
    }
    return shown;
  }

  #short(text: string): string {
    this.cut = true;
    return text;
  }
}

function plain(key: string): string {
  return key.toLowerCase().replace(/[-_. ]/g, "");
}
