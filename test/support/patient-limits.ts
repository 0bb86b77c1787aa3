import type { Limits } from "../../src/server/limits.ts";

/** Milliseconds that no test waits. */
const never = 600_000;

/** Every limit on time so far away that only the one under test can have ended anything. */
export const patient: Partial<Limits> = {
  protocolTimeoutMs: never,
  handshakeTimeoutMs: never,
  headersTimeoutMs: never,
  requestTimeoutMs: never,
  keepAliveTimeoutMs: never,
  stalledWriteTimeoutMs: never,
  idleSessionTimeoutMs: never,
  pingIntervalMs: never,
  pingTimeoutMs: never,
  sweepIntervalMs: 20,
};
