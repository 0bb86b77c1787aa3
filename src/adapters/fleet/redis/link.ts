import type { LinkUse } from "../../kit/fleet/connection.ts";

/** A connection to Redis that carries commands and hints. It is used until it breaks, and then replaced by another. */
export interface Link {
  /** Sends a command about the keys of the fleet. Rejects at once if the connection is lost. */
  send(args: readonly string[]): Promise<unknown>;
  /** Resolves if the connection that carries hints still answers. */
  ping(): Promise<unknown>;
}

/** What a link is for, and how it reports. */
export interface RedisUse extends LinkUse {
  /** The channel of the hints. It is also a key of the fleet: a cluster sends all commands to the node that has it. */
  readonly channel: string;
}

/** Connects and subscribes. Rejects if that fails; does not try again. */
export type Dial = (use: RedisUse) => Promise<Link>;

/** Milliseconds until a TCP connection is given up. */
export const CONNECT_TIMEOUT_MS = 3000;

/** The slot of a key in a cluster: CRC-16 of what stands between its braces. */
export function slotOf(key: string): number {
  let crc = 0;
  for (const byte of Buffer.from(/\{(.+?)\}/.exec(key)?.[1] ?? key)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
  }
  return crc % 16_384;
}
