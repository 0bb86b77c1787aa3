import { expect } from "vitest";
import winston from "winston";

/** What every transport extends; the types call it otherwise than the module does. */
const { Transport } = winston as unknown as {
  readonly Transport: new (options?: winston.transport.TransportStreamOptions) => winston.transport;
};

/** A transport that keeps the messages that really come to it. */
export class Memory extends Transport {
  readonly written: string[] = [];
  readonly name = "memory";

  override log(info: { readonly message: string }, next: () => void): void {
    this.written.push(info.message);
    next();
  }
}

/** What has come to the transport once nothing is on its way any more. */
export async function written(transport: Memory, ...loggers: readonly winston.Logger[]): Promise<readonly string[]> {
  const onTheWay = () =>
    loggers.reduce((sum, logger) => sum + logger.readableLength + logger.writableLength, transport.writableLength);
  await expect.poll(onTheWay).toBe(0);
  return transport.written;
}

/** A logger with one such transport. */
export function memoryLogger(options: winston.LoggerOptions = {}): { root: winston.Logger; out: Memory } {
  const out = new Memory();
  return { root: winston.createLogger({ transports: [out], ...options }), out };
}
