import type { Caller } from "../access/caller.ts";
import type { Permission } from "../access/permission.ts";
import type { CallCode, CallObserver, CallProtocol, CallSubject } from "../calls/call-record.ts";
import { ActuatorError } from "../error.ts";
import type { Origin } from "./connection.ts";
import type { GateRequest } from "./request.ts";

/** One request on its way: what it asks for, who makes it, and how it ends. */
export class Visit {
  readonly request: GateRequest;
  readonly protocol: CallProtocol;
  readonly origin: Origin;
  /** What is called; stays empty for a path or method that is not there. */
  operation = "";
  permission: Permission | undefined;
  caller: Caller | undefined;
  subject: CallSubject = {};
  /** Whether the operation itself was reached, and so says how the visit ends. */
  entered = false;
  #reason: string | undefined;
  readonly #observer: CallObserver;
  readonly #startTime = Date.now();
  readonly #began = performance.now();
  #ended = false;

  constructor(request: GateRequest, protocol: CallProtocol, origin: Origin, observer: CallObserver) {
    this.request = request;
    this.protocol = protocol;
    this.origin = origin;
    this.#observer = observer;
  }

  /** Notes why it fails, where the error has a reason for programs. */
  failed(error: unknown): void {
    if (error instanceof ActuatorError) this.#reason = error.reason;
  }

  /** Tells the books how it ended; the first time counts. */
  end(code: CallCode): void {
    if (this.#ended) return;
    this.#ended = true;
    const { protocol, operation, permission, caller, subject } = this;
    const { address } = this.origin;
    const durationMs = performance.now() - this.#began;
    const startTime = this.#startTime;
    const reason = this.#reason;
    this.#observer({ protocol, operation, permission, caller, address, subject, code, reason, startTime, durationMs });
  }
}
