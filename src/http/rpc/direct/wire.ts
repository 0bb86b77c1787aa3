import type { IncomingHttpHeaders } from "node:http";
import type { GateRequest, GateResponse } from "../../gate/request.ts";

/** Headers or trailers by their lower-case names. */
export type Fields = Record<string, string | string[]>;

/** One request and its answer, whatever version of HTTP carries them. */
export interface Wire {
  readonly request: GateRequest;
  readonly response: GateResponse;
  readonly headers: IncomingHttpHeaders;
  readonly method: string;
  /** The URL as at the root. */
  readonly url: string;
  /** Whether the client has gone away. */
  readonly isGone: boolean;
  /** Whether all of the request has arrived. */
  readonly isComplete: boolean;
  /** Calls `listener` when the answer has ended, or its client has gone away. */
  onClose(listener: () => void): void;
  /** Begins to read the body. */
  read(onData: (chunk: Buffer) => void, onEnd: () => void): void;
  /** Reads and discards the rest of the request where a client may lose an answer that comes before its end. */
  readRest(): Promise<void> | undefined;
  /** Begins the answer. Discards what is left of the request when the answer has ended. */
  begin(status: number, fields: Fields): void;
  /** Whether the answer has begun. */
  readonly hasBegun: boolean;
  /** Writes a part of the answer. Returns false if the client should take what there is before more is written. */
  write(bytes: Uint8Array): boolean;
  /** Calls `listener` once the client has taken what there is. */
  onDrain(listener: () => void): void;
  /** Ends the answer. Calls `onFailure` with the error of trailers that turn out later not to be valid. */
  end(bytes?: Uint8Array, trailers?: Fields, onFailure?: (failure: unknown) => void): void;
  /** Ends the answer as a failure of transport. */
  cut(): void;
  /** Closes the connection after the answer, where that is how a client is told to stop sending. */
  closeConnection(): void;
}
