import type { MessageInitShape } from "@bufbuild/protobuf";
import { type CallOptions, Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { expect, onTestFinished } from "vitest";
import {
  WatchLogsResponse_Dropped_Reason as DropReason,
  type LogRecord,
  LogsService,
  WatchLogsResponse_RaiseEnded_Reason as RaiseEndReason,
  type WatchLogsRequestSchema,
  type WatchLogsResponse,
  type WatchLogsResponse_Started,
} from "../../src/gen/actuator/v3/logs_pb.ts";
import { transportOver, type Wire } from "./rpc-harness.ts";

export type LogRequest = MessageInitShape<typeof WatchLogsRequestSchema>;

/** How to call. Default: gRPC on a connection of its own. */
export interface LogCall extends CallOptions {
  readonly wire?: Wire;
  readonly transport?: Transport;
}

const GRPC: Wire = { protocol: "gRPC", httpVersion: "2" };

/** A call of WatchLogs, which a test reads in the background until it ends. */
export class LogWatch {
  readonly events: WatchLogsResponse[] = [];
  /** What ended it; undefined while it goes on. */
  error: ConnectError | undefined;
  readonly #abort = new AbortController();
  readonly #ended: Promise<void>;

  constructor(url: string, request: LogRequest = {}, { wire = GRPC, transport, ...options }: LogCall = {}) {
    const stream = createClient(LogsService, transport ?? transportOver(wire, url)).watchLogs(request, {
      ...options,
      signal: this.#abort.signal,
    });
    onTestFinished(() => this.#abort.abort());
    this.#ended = this.#read(stream);
  }

  async #read(stream: AsyncIterable<WatchLogsResponse>): Promise<void> {
    try {
      for await (const event of stream) this.events.push(event);
      this.error = new ConnectError("the server ended the stream", Code.Unknown);
    } catch (error) {
      this.error = ConnectError.from(error);
    }
  }

  get started(): WatchLogsResponse_Started | undefined {
    const { event } = this.events[0] ?? {};
    return event?.case === "started" ? event.value : undefined;
  }

  get records(): readonly LogRecord[] {
    return this.events.flatMap(({ event }) => (event.case === "records" ? event.value.records : []));
  }

  get messages(): readonly string[] {
    return this.records.map(({ message }) => message);
  }

  /** What was dropped, in words. */
  get dropped(): readonly string[] {
    return this.events.flatMap(({ event }) =>
      event.case === "dropped" ? `${nameIn(DropReason, event.value.reason)} ${event.value.count}` : [],
    );
  }

  /** Why its raised level ended, in words. */
  get raiseEnds(): readonly string[] {
    return this.events.flatMap(({ event }) =>
      event.case === "raiseEnded" ? nameIn(RaiseEndReason, event.value.reason) : [],
    );
  }

  get heartbeats(): number {
    return this.events.filter(({ event }) => event.case === "heartbeat").length;
  }

  /** The last token. */
  get after(): string {
    return this.events.at(-1)!.after;
  }

  abort(): void {
    this.#abort.abort();
  }

  /** Resolves to what ended it. */
  async end(): Promise<ConnectError> {
    await this.#ended;
    return this.error!;
  }
}

/** Begins a call of WatchLogs, and waits until it hears. Fails if it is refused. */
export async function watchLogs(...call: ConstructorParameters<typeof LogWatch>): Promise<LogWatch> {
  const watch = new LogWatch(...call);
  await expect.poll(() => watch.events.length > 0 || watch.error !== undefined).toBe(true);
  if (watch.error !== undefined) throw watch.error;
  expect(watch.started).toBeDefined();
  return watch;
}

function nameIn(names: Readonly<Record<string, number>>, value: number): string {
  return Object.entries(names).find(([, each]) => each === value)![0];
}
