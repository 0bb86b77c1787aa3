import { Random } from "../support/random.ts";
import { hostileInput, type Leave } from "../support/server-hostile-inputs.ts";
import { BODY_INPUTS, BOMB_INPUTS } from "./body-inputs.ts";
import { HTTP1_INPUTS } from "./http1-inputs.ts";
import { HTTP2_INPUTS } from "./http2-inputs.ts";

/** What an attacker connects with: TCP to the cleartext port, TCP to that of TLS without a handshake, or TLS. */
export type Over = "tcp" | "tcp to TLS" | "tls h2" | "tls http/1.1" | "tls";

/** One hostile connection. */
export interface FuzzInput {
  readonly kind: string;
  readonly over: Over;
  /** Writes in order; a number is a pause in milliseconds. */
  readonly writes: readonly (Buffer | number)[];
  readonly leave: Leave;
}

/** By how many of a thousand inputs are of them. */
const TABLES = [
  [250, undefined],
  [260, HTTP1_INPUTS],
  [230, HTTP2_INPUTS],
  [257, BODY_INPUTS],
  [3, BOMB_INPUTS],
] as const;

/** The input of a place in the run with this seed: the same at every time. */
export function fuzzInput(seed: number, index: number): FuzzInput {
  const random = new Random(Math.imul(seed ^ index, 0x9e3779b1) + index);
  random.next();
  const over = random.pick<Over>(OVERS);
  const table = tableFor(random.below(1_000));
  if (table === undefined) return { over, ...hostileInput(random) };
  const kind = random.pick(Object.keys(table));
  const writes = table[kind]!(random).map((write) =>
    typeof write === "string" ? Buffer.from(write, "latin1") : write,
  );
  const leave = random.below(200) === 0 ? "stay" : random.pick<Leave>(["end", "end", "reset"]);
  return { kind, over, writes, leave };
}

/** A handshake costs a millisecond on both sides: one in ten has it. */
const OVERS: readonly Over[] = [
  ...Array<Over>(40).fill("tcp"),
  "tcp to TLS",
  "tls h2",
  "tls h2",
  "tls http/1.1",
  "tls",
];

function tableFor(place: number): (typeof TABLES)[number][1] {
  let end = 0;
  for (const [share, table] of TABLES) if (place < (end += share)) return table;
  return undefined;
}
