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
import type { GateRequest, GateResponse, Origin } from "./request.ts";

const PLAIN_HTTP: ReadonlySet<CallProtocol> = new Set(["rest", "otlp", "mcp"]);

/** One request under way: its operation, its caller and its outcome, which goes to the call log. */
export class RequestContext {
  readonly request: GateRequest;
  readonly protocol: CallProtocol;
  readonly origin: Origin;
  /** The name of the operation; empty for an unknown path or method. */
  operation = "";
  /** The route that the path matched, over plain HTTP: `/loggers/{name}`. */
  route: string | undefined;
  permission: Permission | undefined;
  caller: Caller | undefined;
  subject: CallSubject = {};
  /** The name of the client certificate that was refused, and why. */
  certificate: string | undefined;
  /** Whether the request reached its operation, which then records the outcome. */
  entered = false;
  /** Why this request gets only what is public, if it does. */
  refusal: ActuatorError | undefined;
  /** The code of refused credentials, if the answer is the one for anonymous callers. The call log has this code. */
  refused: CallCode | undefined;
  #reason: string | undefined;
  readonly #response: GateResponse;
  readonly #observer: CallObserver;
  readonly #startTime = Date.now();
  readonly #began = performance.now();
  #hasBegun = false;
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

  /** A further call of the same caller over the same connection, with a record of its own in the call log. */
  further(): RequestContext {
    return this.#derived(this.#observer);
  }

  /** A call that is part of this one, and has no record of its own. */
  inner(): RequestContext {
    return this.#derived(() => {});
  }

  #derived(observer: CallObserver): RequestContext {
    const { request, protocol, origin } = this;
    const context = new RequestContext(request, this.#response, protocol, origin, observer);
    context.caller = this.caller;
    context.entered = true;
    return context;
  }

  /** Notes the reason of an error for the call log. */
  failed(error: unknown): void {
    if (error instanceof ActuatorError) this.#reason = error.reason;
  }

  /** Closes the connection after the response. */
  endConnection(): void {
    if ("stream" in this.#response) this.#response.stream.session?.close();
    else this.#response.setHeader("Connection", "close");
  }

  /** Records in the call log that a stream has begun. */
  begin(): void {
    this.#hasBegun = true;
    this.#record("OK", "begin");
  }

  /** Records the outcome in the call log; over plain HTTP after the response was sent. Only the first call counts. */
  end(outcome: CallCode): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#record(outcome, this.#hasBegun ? "end" : undefined);
  }

  #record(outcome: CallCode, phase: "begin" | "end" | undefined): void {
    this.#observer({
      protocol: this.protocol,
      operation: this.operation,
      http: PLAIN_HTTP.has(this.protocol) ? this.#http() : undefined,
      permission: this.permission,
      caller: this.caller,
      certificate: this.certificate,
      address: this.origin.address,
      subject: this.subject,
      code: this.refused ?? outcome,
      reason: this.#reason,
      phase,
      startTime: this.#startTime,
      durationMs: performance.now() - this.#began,
    });
  }

  #http(): HttpCall {
    const { headersSent, statusCode } = this.#response;
    // Over HTTP/1.1 headers also count as sent on a destroyed connection.
    const isSent = headersSent && !(this.#response as ServerResponse).destroyed;
    return {
      method: this.request.method ?? "",
      route: this.route,
      scheme: this.origin.scheme,
      status: isSent ? statusCode : undefined,
    };
  }
}
