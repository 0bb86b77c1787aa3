import type { ServerResponse } from "node:http";
import type { Caller } from "../../access/caller.ts";
import type { Permission } from "../../access/permission.ts";
import { ActuatorError } from "../../common/error.ts";
import type {
  CallCode,
  CallObserver,
  CallProtocol,
  CallSubject,
  HttpCall,
} from "../../operations/calls/call-record.ts";
import type { Origin } from "./connection.ts";
import type { GateRequest, GateResponse } from "./request.ts";

const PLAIN_HTTP: ReadonlySet<CallProtocol> = new Set(["rest", "otlp"]);

/** One request on its way: what it asks for, who makes it, and how it ends. */
export class RequestContext {
  readonly request: GateRequest;
  readonly protocol: CallProtocol;
  readonly origin: Origin;
  /** What is called; stays empty for a path or method that is not there. */
  operation = "";
  /** What its path matched, where it came over plain HTTP: `/loggers/{name}`. */
  route: string | undefined;
  permission: Permission | undefined;
  caller: Caller | undefined;
  subject: CallSubject = {};
  /** Whether the operation itself was reached, and so says how the context ends. */
  entered = false;
  /** That what the caller showed was refused, where the answer is one for everybody: in the call log, the request ended with that. */
  refused: CallCode | undefined;
  #reason: string | undefined;
  readonly #response: GateResponse;
  readonly #observer: CallObserver;
  readonly #startTime = Date.now();
  readonly #began = performance.now();
  #ended = false;

  constructor(
    request: GateRequest,
    response: GateResponse,
    protocol: CallProtocol,
    origin: Origin,
    observer: CallObserver,
  ) {
    this.request = request;
    this.#response = response;
    this.protocol = protocol;
    this.origin = origin;
    this.#observer = observer;
  }

  /** Notes why it fails, where the error has a reason for programs. */
  failed(error: unknown): void {
    if (error instanceof ActuatorError) this.#reason = error.reason;
  }

  /** Has the connection end with the answer. */
  endConnection(): void {
    if ("stream" in this.#response) this.#response.stream.session?.close();
    else this.#response.setHeader("Connection", "close");
  }

  /** Records in the call log how it ended, after the answer where that is plain HTTP; the first time counts. */
  end(outcome: CallCode): void {
    if (this.#ended) return;
    this.#ended = true;
    const code = this.refused ?? outcome;
    const { protocol, operation, permission, caller, subject } = this;
    const { address } = this.origin;
    const durationMs = performance.now() - this.#began;
    const startTime = this.#startTime;
    const reason = this.#reason;
    const http = PLAIN_HTTP.has(protocol) ? this.#http() : undefined;
    this.#observer({
      protocol,
      operation,
      http,
      permission,
      caller,
      address,
      subject,
      code,
      reason,
      startTime,
      durationMs,
    });
  }

  #http(): HttpCall {
    const { headersSent, statusCode } = this.#response;
    // Over HTTP/1.1 headers count as sent also on a connection that is gone.
    const isSent = headersSent && !(this.#response as ServerResponse).destroyed;
    return {
      method: this.request.method ?? "",
      route: this.route,
      scheme: this.origin.scheme,
      status: isSent ? statusCode : undefined,
    };
  }
}
