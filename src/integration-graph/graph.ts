import type { GraphSnapshot } from "./snapshot.ts";

/** Placeholder of the store's face towards REST and RPC; the store itself grows here. */
export interface IntegrationGraph {
  snapshot(): GraphSnapshot;
  rebuild(): Promise<number>;
}
