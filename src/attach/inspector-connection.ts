import { once } from "node:events";
import { ActuatorError } from "../common/error.ts";
import { withTimeout } from "../common/timeout.ts";

/** What a call of the inspector answers. */
interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** The result of an expression (https://chromedevtools.github.io/devtools-protocol/v8/Runtime/). */
interface Evaluation {
  readonly result: { readonly value?: unknown; readonly objectId?: string };
  readonly exceptionDetails?: { readonly text: string; readonly exception?: { readonly description?: string } };
}

/** A connection to the inspector of a process. */
export class InspectorConnection {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #id = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      const { id, ...answer } = JSON.parse(String(data)) as Answer & { id?: number };
      this.#waiting.get(id!)?.(answer);
      this.#waiting.delete(id!);
    });
    const end = () => {
      for (const answer of this.#waiting.values()) answer({ error: { message: "the connection has ended" } });
      this.#waiting.clear();
    };
    socket.addEventListener("close", end);
    socket.addEventListener("error", end);
  }

  /** @throws ActuatorError UNAVAILABLE if it is not open in time */
  static async open(url: string, timeoutMs: number): Promise<InspectorConnection> {
    const socket = new WebSocket(url);
    try {
      await once(socket, "open", { signal: AbortSignal.timeout(timeoutMs) });
    } catch {
      socket.close();
      throw unavailable(`its inspector at ${url} accepts no connection`);
    }
    return new InspectorConnection(socket);
  }

  /** Evaluates an expression, and resolves to its value, or to a handle of it if `byReference`. */
  async evaluate(expression: string, timeoutMs: number, byReference = false): Promise<unknown> {
    // With `require`, for versions without process.getBuiltinModule.
    const params = { expression, includeCommandLineAPI: true, returnByValue: !byReference };
    return this.#call("Runtime.evaluate", params, timeoutMs);
  }

  /** Calls a function, written as an expression, with a handle as `this`, and waits for what it returns. */
  async callOn(objectId: unknown, functionDeclaration: string, timeoutMs: number): Promise<unknown> {
    const params = { objectId, functionDeclaration, awaitPromise: true, returnByValue: true };
    return this.#call("Runtime.callFunctionOn", params, timeoutMs);
  }

  /** Disconnects. */
  close(): void {
    this.#socket.close();
  }

  /** @throws ActuatorError UNAVAILABLE (NO_ANSWER) if there is no answer in time, FAILED_PRECONDITION for what the code has thrown */
  async #call(method: string, params: object, timeoutMs: number): Promise<unknown> {
    const id = ++this.#id;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    this.#waiting.set(id, resolve);
    this.#socket.send(JSON.stringify({ id, method, params }));
    const { result, error } = await withTimeout(promise, timeoutMs, () =>
      unavailable("it did not answer in time: its event loop is busy, or a debugger has paused it; try again"),
    );
    if (error !== undefined) throw unavailable(`its inspector says: ${error.message}`);
    const { result: value, exceptionDetails } = result as Evaluation;
    if (exceptionDetails === undefined) return value.objectId ?? value.value;
    const [thrown] = (exceptionDetails.exception?.description ?? exceptionDetails.text).split("\n    at ");
    throw new ActuatorError("FAILED_PRECONDITION", "ATTACH_FAILED", thrown!.replace(/^\w*Error(?: \[\w+\])?: /, ""));
  }
}

function unavailable(message: string): ActuatorError {
  return new ActuatorError("UNAVAILABLE", "NO_ANSWER", message);
}
