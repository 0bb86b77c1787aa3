import { ConnectError, type Interceptor, type StreamRequest, type StreamResponse } from "@connectrpc/connect";
import { isRecordedAtBegin } from "../../../access/permission.ts";
import type { CallCode } from "../../../operations/calls/call-record.ts";
import type { Gate } from "../../gate/gate.ts";
import type { RequestContext } from "../../gate/request-context.ts";
import { requestContextOf } from "../calls/call-context.ts";
import { timeout } from "../calls/deadline.ts";
import { anyErrorToRpc, callCodeOf } from "../calls/error.ts";
import { type OpenStreams, openStream } from "../calls/open-streams.ts";

type Next = ReturnType<Interceptor>;
type Request = Parameters<Next>[0];

/**
 * Makes the interceptor of all calls, which does what connect does not:
 *
 * - errors of the domain get their RPC code and detail, and unexpected errors reach `onError` (connect drops them silently);
 * - a deadline ends the call in time, even if the work ignores its signal (connect only aborts the signal);
 * - a stream ends at once when its client goes away or `streams` end, and soon after its caller's credentials become invalid.
 */
export function rpcInterceptor(
  streams: OpenStreams,
  onError: (error: unknown, context: string) => void,
  gate: Pick<Gate, "credentialsFault" | "isAnonymous">,
): Interceptor {
  function toRpc(error: unknown, request: Request): ConnectError {
    const { signal, method } = request;
    // Only the consequence of aborting the call.
    if (signal.aborted && (error === signal.reason || (error as Error)?.name === "AbortError")) {
      return ConnectError.from(signal.reason);
    }
    return anyErrorToRpc(error, (unexpected) => onError(unexpected, `rpc ${method.parent.typeName}/${method.name}`));
  }

  return (next) => (request) => {
    const context = requestContextOf(request.contextValues);
    context.entered = true;
    const guarded: Next = (req) =>
      next(req).catch((error: unknown) => {
        context.failed(error);
        throw toRpc(error, req);
      });
    if (request.stream) return stream(guarded, request, context);
    const response =
      request.contextValues.get(timeout) === undefined ? guarded(request) : untilAborted(guarded, request);
    return response.then(
      (answer) => {
        context.end("OK");
        return answer;
      },
      (error: unknown) => {
        context.end(callCodeOf(ConnectError.from(error)));
        throw error;
      },
    );
  };

  async function untilAborted(next: Next, request: Request): ReturnType<Next> {
    const { signal } = request;
    const interruption = new Interruption();
    const onAbort = () => interruption.interrupt(ConnectError.from(signal.reason));
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort);
    try {
      return await interruption.wait(() => next(request));
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  async function stream(next: Next, request: StreamRequest, context: RequestContext): ReturnType<Next> {
    const { signal } = request;
    const interruption = new Interruption();
    let source: AsyncIterator<unknown> | undefined;
    let remove: () => void;

    function close(code: CallCode): void {
      context.end(code);
      signal.removeEventListener("abort", onAbort);
      remove();
    }
    function interrupt(reason: unknown): void {
      const error = ConnectError.from(reason);
      context.failed(error.cause);
      close(callCodeOf(error));
      interruption.interrupt(reason);
      // Not awaited: a generator returns only when its pending wait ends, which may be never.
      source?.return?.().catch((error: unknown) => toRpc(error, request));
    }
    function onAbort(): void {
      interrupt(ConnectError.from(signal.reason));
    }
    function failed(error: unknown): never {
      const failure = toRpc(error, request);
      close(callCodeOf(failure));
      throw failure;
    }

    try {
      remove = streams.add(interrupt, openStream(context, gate));
    } catch (error) {
      const failure = toRpc(error, request);
      context.end(callCodeOf(failure));
      throw failure;
    }
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();

    const response = (await interruption.wait(() => next(request)).catch(failed)) as StreamResponse;
    const iterator: AsyncIterator<unknown> = response.message[Symbol.asyncIterator]();
    source = iterator;
    let isBegun = false;
    const message: AsyncIterableIterator<unknown> = {
      async next() {
        const result = await interruption.wait(() => iterator.next()).catch(failed);
        if (result.done) close("OK");
        else if (!isBegun && context.permission !== undefined && isRecordedAtBegin(context.permission)) context.begin();
        isBegun = true;
        return result;
      },
      async return(value) {
        close("CANCELLED");
        return (await iterator.return?.(value)) ?? { done: true, value };
      },
      async throw(error) {
        close("CANCELLED");
        if (iterator.throw === undefined) throw error;
        return iterator.throw(error);
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
    return { ...response, message } as StreamResponse;
  }
}

/** Ends a wait for work that may never end by itself. For one wait at a time. */
export class Interruption {
  #interrupted = false;
  #reason: unknown;
  #reject: ((reason: unknown) => void) | undefined;

  get interrupted(): boolean {
    return this.#interrupted;
  }

  /** Rejects the current wait, and every later one, with `reason`. Only the first call counts. */
  interrupt(reason: unknown): void {
    if (this.#interrupted) return;
    this.#interrupted = true;
    this.#reason = reason;
    this.#reject?.(reason);
  }

  /** Waits for the work until an interruption. Does not begin work after one. */
  wait<T>(work: () => Promise<T>): Promise<T> {
    if (this.#interrupted) return Promise.reject(this.#reason);
    // Not Promise.race: its reactions would accumulate on a promise that lives as long as the stream.
    return new Promise<T>((resolve, reject) => {
      this.#reject = reject;
      work().then(resolve, reject);
    });
  }
}
