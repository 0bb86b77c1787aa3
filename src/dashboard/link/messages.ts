import type { ServiceName } from "./services.ts";

/** What a tab watches: streams that begin again by themselves when the connection was lost. */
export type WatchName = "activity" | "loggers" | "graph" | "fleet" | "fleetGraph";

/** Why a call failed, in the form in which it passes from the worker to a tab. */
export interface Fault {
  /** A code of gRPC in capitals, such as `PERMISSION_DENIED`. */
  readonly code: string;
  /** The reason of google.rpc.ErrorInfo, such as `READ_ONLY`; empty if the server gave none. */
  readonly reason: string;
  readonly message: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The state of the connection that all tabs share. Times are milliseconds since the epoch. */
export type ConnectionState =
  | { readonly status: "connecting" }
  | { readonly status: "live"; readonly since: number }
  /** No answer: the page shows what it knew. `retryAt` is when the next attempt begins. */
  | { readonly status: "offline"; readonly since: number; readonly retryAt: number; readonly isDraining: boolean }
  /** The service wants credentials, or no longer accepts those that were given. */
  | { readonly status: "refused"; readonly fault: Fault; readonly hadCredentials: boolean };

/** From a tab to the worker. Ids are the tab's own. */
export type ToWorker =
  /** The first message. `authorization` is the value of the header; tabs with different ones share nothing. */
  | { readonly type: "hello"; readonly base: string; readonly authorization: string | undefined }
  | {
      readonly type: "call";
      readonly id: number;
      readonly service: ServiceName;
      readonly method: string;
      readonly input: unknown;
    }
  | {
      readonly type: "stream";
      readonly id: number;
      readonly service: ServiceName;
      readonly method: string;
      readonly input: unknown;
    }
  | { readonly type: "watch"; readonly id: number; readonly watch: WatchName }
  | { readonly type: "stop"; readonly id: number }
  | { readonly type: "retry" }
  | { readonly type: "alive" }
  | { readonly type: "bye" };

/** From the worker to a tab. */
export type ToTab =
  | { readonly type: "result"; readonly id: number; readonly message: unknown }
  | { readonly type: "message"; readonly id: number; readonly message: unknown }
  /** The server has refused a watch for now; it begins again soon. */
  | { readonly type: "interrupted"; readonly id: number; readonly fault: Fault }
  /** A call or stream has ended; `fault` is undefined if the stream ended by itself. */
  | { readonly type: "end"; readonly id: number; readonly fault: Fault | undefined }
  | { readonly type: "connection"; readonly state: ConnectionState; readonly tabs: number }
  /** The worker has ended what the tab had, because it was silent: it begins anew. */
  | { readonly type: "closed" }
  /** The server was heard, at this time. */
  | { readonly type: "heard"; readonly at: number };
