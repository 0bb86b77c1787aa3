import type { Delivery } from "../../../integration-graph/delivery.ts";

/** The methods that settle a message, and whether that means that it failed. */
const SETTLING = { ack: false, ackAck: false, next: false, nak: true, term: true } as const;

/** Tells a delivery what becomes of its message. The message is the application's alone, so it stays as it is for good. */
export function watchSettling(message: object, delivery: Delivery): void {
  for (const [name, failed] of Object.entries(SETTLING)) {
    const method: unknown = Reflect.get(message, name);
    if (typeof method !== "function") continue;
    const value = (...args: unknown[]) => {
      const result = Reflect.apply(method, message, args);
      delivery.settled(failed);
      return result;
    };
    Object.defineProperty(message, name, { value, configurable: true, writable: true, enumerable: false });
  }
}
