import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ContextValues, type HandlerContext } from "@connectrpc/connect";
import { type Compression, compressionNegotiate } from "@connectrpc/connect/protocol";
import type { RequestContext } from "../../gate/request-context.ts";
import { callValues } from "../calls/call-context.ts";
import { atDeadline, timeoutOf } from "../calls/deadline.ts";
import { anyErrorToRpc, callCodeOf } from "../calls/error.ts";
import { absoluteUrl, gone, headersOf } from "../calls/node-request.ts";
import type { Format } from "./format.ts";
import type { DirectMethod } from "./method.ts";
import { messageOfQuery, RequestBody, type RequestMessage } from "./request-message.ts";
import { fieldsOf } from "./trailers.ts";
import type { Fields, Wire } from "./wire.ts";

/** The reason with which the signal of a call is aborted that has ended by itself. Making one for each call would take its stack. */
const OVER = new DOMException("The call is over.", "AbortError");

/**
 * One call of the direct path, from its headers to its answer. It is the context that its method gets, and makes the objects of that only
 * when they are asked for. Synchronous, unless access control, compression or the method is not.
 */
export abstract class Call implements HandlerContext {
  protected readonly of: DirectMethod;
  protected readonly wire: Wire;
  protected readonly format: Format;
  protected readonly context: RequestContext;
  /** How messages of the answer may be compressed. */
  protected compression: Compression | null = null;
  #requestCompression: Compression | null = null;
  /** Why the headers are refused, which a caller without permission does not get to know. */
  #refusal: ConnectError | undefined;
  #deadline: number | undefined;
  #stopTime: (() => void) | undefined;
  #bodyTimer: NodeJS.Timeout | undefined;
  #controller: AbortController | undefined;
  /** Why the call was ended from outside. */
  #reason: ConnectError | undefined;
  #isOver = false;
  #values: ContextValues | undefined;
  #requestHeader: Headers | undefined;
  #responseHeader: Headers | undefined;
  #responseTrailer: Headers | undefined;

  constructor(of: DirectMethod, wire: Wire, format: Format, context: RequestContext) {
    this.of = of;
    this.wire = wire;
    this.format = format;
    this.context = context;
  }

  get method(): DescMethod {
    return this.of.desc;
  }

  get service(): DescService {
    return this.of.desc.parent;
  }

  get requestMethod(): string {
    return this.wire.method;
  }

  get protocolName(): string {
    return this.format.protocol;
  }

  get url(): string {
    return absoluteUrl(this.wire.request, this.wire.url);
  }

  get values(): ContextValues {
    this.#values ??= callValues(this.context);
    return this.#values;
  }

  get requestHeader(): Headers {
    this.#requestHeader ??= headersOf(this.wire);
    return this.#requestHeader;
  }

  get responseHeader(): Headers {
    this.#responseHeader ??= new Headers();
    return this.#responseHeader;
  }

  get responseTrailer(): Headers {
    this.#responseTrailer ??= new Headers();
    return this.#responseTrailer;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isOver) this.#controller.abort(this.#reason ?? OVER);
    return this.#controller.signal;
  }

  readonly timeoutMs = (): number | undefined => this.#deadline && this.#deadline - Date.now();

  /** Calls the method with the message of the request. */
  protected abstract invoke(input: object): void;

  /** Answers with an error; an answer that has begun ends with it. */
  protected abstract answerError(error: ConnectError): void;

  /**
   * Takes the call through the gate and reads its message.
   *
   * @param query the parameters of a GET
   */
  begin(query?: URLSearchParams): void {
    const { wire } = this;
    this.attempt(() => {
      // An error, with its stack, is made only for a call that is not over.
      wire.onClose(() => this.#isOver || this.abort(gone()));
      if (this.#isOver) return;
      this.#limitTime();
      this.#negotiate(query);
      this.after(this.of.requestGate(this), () => this.#admitted(query));
    });
  }

  /** Goes on with a value, at once or as soon as there is one, unless the call is over by then. What goes wrong ends the call. */
  protected after<T>(value: T | Promise<T>, step: (value: T) => void): void {
    if (!(value instanceof Promise)) step(value);
    else value.then((value) => this.#isOver || step(value)).catch((error: unknown) => this.fail(error));
  }

  /** Takes a step, and fails if it throws. */
  protected attempt(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.fail(error);
    }
  }

  /** Ends the call from outside, whatever its method does. */
  abort(reason: ConnectError): void {
    if (this.#isOver) return;
    this.#reason = reason;
    this.fail(reason);
  }

  /** Ends the call with an error. One that has ended already only reports what was not expected. */
  protected fail(cause: unknown): void {
    const error = this.#errorOf(cause);
    if (this.#isOver) return;
    this.context.failed(cause instanceof ConnectError ? cause.cause : cause);
    this.context.end(callCodeOf(error));
    this.over();
    if (this.wire.isGone) return;
    const rest = this.wire.isComplete ? undefined : this.wire.readRest();
    const answer = () => this.write(() => this.answerError(error));
    if (rest === undefined) answer();
    else rest.then(() => this.wire.isGone || answer());
  }

  protected get isOver(): boolean {
    return this.#isOver;
  }

  /** Lets go of what the call holds. From here on nothing but the answer happens. */
  protected over(): void {
    this.#isOver = true;
    this.#stopTime?.();
    clearTimeout(this.#bodyTimer);
    if (this.#controller?.signal.aborted === false) this.#controller.abort(this.#reason ?? OVER);
  }

  /** The headers of an answer. */
  protected head(): Fields {
    const fields: Fields = this.#responseHeader === undefined ? {} : fieldsOf(this.#responseHeader);
    fields["content-type"] = this.format.contentType;
    // Connect says for a unary message itself whether it is compressed, and the others for each message.
    if (this.compression !== null && this.format.isEnveloped) {
      fields[this.format.encodingHeader] = this.compression.name;
    }
    return fields;
  }

  /** The trailers that the method has set, if it has. */
  protected get ownTrailer(): Headers | undefined {
    return this.#responseTrailer;
  }

  /** Writes the end of an answer. One that cannot be written, such as a header with a line break, is cut off. */
  protected write(end: () => void): void {
    try {
      end();
    } catch (failure) {
      this.cut(failure);
    }
  }

  /** Cuts off an answer that cannot be written. */
  protected cut(failure: unknown): void {
    this.of.onError(failure, `rpc ${this.of.operation}`);
    this.wire.cut();
  }

  #errorOf(cause: unknown): ConnectError {
    const reason = this.#reason;
    // Only the consequence of aborting the call.
    if (reason !== undefined && (cause === reason || (cause as Error)?.name === "AbortError")) return reason;
    return anyErrorToRpc(cause, (unexpected) => this.of.onError(unexpected, `rpc ${this.of.operation}`));
  }

  #limitTime(): void {
    const timeoutMs = timeoutOf(this.wire.headers, this.format.protocol);
    if (timeoutMs === undefined) return;
    if (Number.isNaN(timeoutMs)) {
      this.#refusal = new ConnectError("The timeout of the call is malformed.", Code.InvalidArgument);
    } else if (timeoutMs > 0) {
      this.#deadline = Date.now() + timeoutMs;
      this.#stopTime = atDeadline(timeoutMs, (late) => this.abort(late));
    } else {
      atDeadline(timeoutMs, (late) => (this.#refusal = late));
    }
  }

  #negotiate(query: URLSearchParams | undefined): void {
    const { headers } = this.wire;
    const { encodingHeader, acceptHeader } = this.format;
    const requested = query === undefined ? headers[encodingHeader] : query.get("compression");
    const accepted = headers[acceptHeader];
    if (requested == null && accepted === undefined) return;
    const { request, response, error } = compressionNegotiate(
      this.of.compressions,
      requested == null ? null : String(requested),
      accepted === undefined ? null : String(accepted),
      acceptHeader,
    );
    this.#requestCompression = request;
    this.compression = response;
    this.#refusal ??= error;
  }

  #admitted(query: URLSearchParams | undefined): void {
    const { wire, format, of } = this;
    if (this.#isOver) return;
    if (this.#refusal !== undefined) throw this.#refusal;
    if (query !== undefined) {
      // A stream of HTTP/2 that is not read never closes.
      wire.read(
        () => {},
        () => {},
      );
      this.#take(messageOfQuery(query));
      return;
    }
    const body = new RequestBody(format, of.readMaxBytes);
    const length = wire.headers["content-length"];
    if (!format.isEnveloped && length !== undefined) body.checkSize(Number(length));
    this.#limitBody();
    wire.read(
      (chunk) => this.#isOver || this.attempt(() => body.add(chunk)),
      () => this.#isOver || this.attempt(() => this.#take(body.end())),
    );
  }

  /** The limits of a server of the application may be none. */
  #limitBody(): void {
    const { bodyTimeoutMs } = this.of;
    if (bodyTimeoutMs === 0 || !this.context.origin.isMounted) return;
    const end = () => {
      this.wire.closeConnection();
      this.abort(new ConnectError("The request did not arrive in time.", Code.DeadlineExceeded));
    };
    this.#bodyTimer = setTimeout(end, bodyTimeoutMs).unref();
  }

  #take({ data, isCompressed }: RequestMessage): void {
    clearTimeout(this.#bodyTimer);
    const compression = this.#requestCompression;
    if (isCompressed && compression === null && this.format.isEnveloped) {
      throw new ConnectError("The message is compressed, and no header says how.", Code.Internal);
    }
    const isPlain = !isCompressed || compression === null;
    const bytes = isPlain ? data : compression.decompress(data, this.of.readMaxBytes);
    this.after(bytes, (bytes) => this.invoke(this.of.decode(bytes, this.format.isBinary)));
  }
}
