import { checkedName } from "./declaration.ts";
import { invalidDeclaration } from "./invalid.ts";
import { channelPrefix } from "./node-id.ts";
import type { BrokerSnapshot } from "./snapshot.ts";

/**
 * What brokers are called, by the address that the application knows: `{ "rabbitmq://10.0.0.1:5672": "main" }`. A key is the
 * system, `://` and the address without credentials, or the broker's own name. Two keys with one value are one broker.
 */
export type BrokerTable = { readonly [systemAndAddress: string]: string };

/** How many addresses are remembered; further brokers are known by their address. */
const MAX_LEARNT = 1_000;

/** The identities of brokers: one broker is known by several addresses, and often calls itself something else. */
export class Brokers {
  readonly #configured = new Map<string, string>();
  /** The brokers' own names, by system and address. */
  readonly #learnt = new Map<string, string>();
  /** How the keys of a broker's channels begin now, by how they began under its address. */
  readonly #prefixes = new Map<string, string>();

  /** @throws ActuatorError INVALID_ARGUMENT if a key is not a system and an address, or a name is invalid. */
  constructor(table: BrokerTable = {}) {
    for (const [key, identity] of Object.entries(table)) {
      const [, system, address] = /^([a-z][a-z0-9.+-]*):\/\/(.+)$/i.exec(key) ?? [];
      if (system === undefined || address === undefined) {
        throw invalidDeclaration("a key of brokers must be a system and an address, such as rabbitmq://10.0.0.1:5672");
      }
      const name = checkedName(identity, "name of a broker");
      this.#configured.set(at(system, withoutCredentials(address)), name);
      this.#configured.set(at(system, address), name);
    }
  }

  /** The name from the configuration or from the broker itself, or else the address without credentials. */
  identity(system: string, address: string): string {
    const known = withoutCredentials(address);
    const key = at(system, known);
    return this.#configured.get(key) ?? this.#learnt.get(key) ?? known;
  }

  /**
   * The broker at `address` calls itself `identity`. Returns how the keys of its channels began and begin from now on, or
   * undefined where nothing becomes another: the configuration says otherwise, the same was said before, or it is unfit.
   */
  learn(system: string, address: string, identity: string): { readonly from: string; readonly to: string } | undefined {
    const known = withoutCredentials(address);
    const key = at(system, known);
    if (this.#configured.has(key)) return undefined;
    const name = this.#configured.get(at(system, identity)) ?? fitName(identity);
    if (name === undefined || this.#learnt.get(key) === name) return undefined;
    if (!this.#learnt.has(key) && this.#learnt.size >= MAX_LEARNT) return undefined;
    this.#learnt.set(key, name);
    const [from, to] = [channelPrefix(system, known), channelPrefix(system, name)];
    if (from === to) return undefined;
    this.#prefixes.set(from, to);
    return { from, to };
  }

  /** The brokers with names of their own, each with the first address that it was learnt by. */
  get named(): readonly BrokerSnapshot[] {
    const brokers = new Map<string, BrokerSnapshot>();
    for (const [key, name] of this.#learnt) {
      const [system, address] = key.split("://") as [string, string];
      const id = at(system, name);
      if (name !== address && !brokers.has(id)) brokers.set(id, { system, name, address });
    }
    return [...brokers.values()];
  }

  /** The key that a node has now, for one that was made of an address before the broker there was known. */
  current(key: string): string {
    if (this.#prefixes.size === 0) return key;
    const prefix = /^channel:[^:]*:[^:]*:/.exec(key)?.[0];
    const now = prefix && this.#prefixes.get(prefix);
    return now === undefined ? key : now + key.slice(prefix!.length);
  }
}

function at(system: string, address: string): string {
  return `${system.toLowerCase()}://${address}`;
}

/** This machine, in an address or a list of addresses. */
const LOOPBACK = /(^|,)(?:localhost|\[::1\]|\[::\]|0\.0\.0\.0)(?=[:/,]|$)/g;

/**
 * An address as it may be shown, and the same for every way to write it: no scheme, user, query or final slash, in lower case, and
 * 127.0.0.1 for this machine.
 * Of a list of addresses with users the last one is left, since a password may hold a comma.
 */
function withoutCredentials(address: string): string {
  return (
    address
      .replace(/^[a-z][a-z0-9.+-]*:\/\//i, "")
      .replace(/^.*@/s, "")
      .replace(/[?#].*$/s, "")
      .replace(/\/+$/, "")
      .toLowerCase()
      .replace(LOOPBACK, "$1127.0.0.1") || "unknown"
  );
}

function fitName(identity: string): string | undefined {
  try {
    return checkedName(identity);
  } catch {
    return undefined;
  }
}
