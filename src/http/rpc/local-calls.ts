import { create, type DescMethod, type DescService, type MessageInitShape } from "@bufbuild/protobuf";
import { type Client, createHandlerContext, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import { isRecordedAtBegin, type Permission } from "../../access/permission.ts";
import type { Gate } from "../gate/gate.ts";
import type { RequestContext } from "../gate/request-context.ts";
import { callValues } from "./calls/call-context.ts";
import { type OpenStreams, openStream } from "./calls/open-streams.ts";
import { permissionsFor } from "./calls/permissions.ts";
import { Interruption } from "./connect/interceptor.ts";

/** Makes clients of the services. A call requires what its method requires of callers over the network. */
export type LocalClients = <S extends DescService>(service: S) => Client<S>;

/** How a client calls; the same as of connect. */
interface LocalOptions {
  readonly signal?: AbortSignal;
}

type Method = (input: object, context: HandlerContext) => unknown;

/**
 * Calls of the services from within this process, for callers that the gate has admitted in another protocol. Permissions, limits of
 * writes and of streams, and what the methods note for the call log are the same as over RPC. Errors are those of the domain.
 */
export class LocalCalls {
  readonly #services = new Map<string, Readonly<Record<string, Method>>>();
  readonly #gate: Gate;
  readonly #streams: OpenStreams;

  constructor(gate: Gate, streams: OpenStreams) {
    this.#gate = gate;
    this.#streams = streams;
  }

  /** Adds a service. */
  add<S extends DescService>(service: S, methods: Partial<ServiceImpl<S>>): void {
    this.#services.set(service.typeName, methods as Readonly<Record<string, Method>>);
  }

  /** Whether there is a service. */
  serves({ typeName }: DescService): boolean {
    return this.#services.has(typeName);
  }

  /** Makes clients for the caller of a request. */
  clients(context: RequestContext): LocalClients {
    return <S extends DescService>(service: S) =>
      Object.fromEntries(
        service.methods.map((method) => [
          method.localName,
          method.methodKind === "server_streaming"
            ? (input: object, options?: LocalOptions) => this.stream(context, method, input, options)
            : (input: object, options?: LocalOptions) => this.#unary(context, method, input, options),
        ]),
      ) as Client<S>;
  }

  async #unary(context: RequestContext, method: DescMethod, input: object, options?: LocalOptions): Promise<unknown> {
    return this.#invoke(context, method, input, options);
  }

  /** Calls a method with a stream of answers, for the caller of a request. */
  async *stream(
    context: RequestContext,
    method: DescMethod,
    input: object,
    options?: LocalOptions,
  ): AsyncGenerator<object, void> {
    const { signal } = options ?? {};
    signal?.throwIfAborted();
    const messages = (this.#invoke(context, method, input, options) as AsyncIterable<object>)[Symbol.asyncIterator]();
    const interruption = new Interruption();
    const stop = (reason: unknown) => {
      interruption.interrupt(reason);
      // Not awaited: a generator returns only when its pending wait ends, which may be never.
      void messages.return?.().catch(() => undefined);
    };
    const onAbort = () => stop(signal!.reason);
    const stream = { ...openStream(context, this.#gate), method: operationOf(method) };
    const leave = this.#streams.add(stop, stream);
    signal?.addEventListener("abort", onAbort);
    let isBegun = false;
    try {
      for (;;) {
        const { done, value } = await interruption.wait(() => messages.next());
        if (done) return;
        if (!isBegun && isRecordedAtBegin(context.permission!)) context.begin();
        isBegun = true;
        yield value as object;
      }
    } finally {
      leave();
      signal?.removeEventListener("abort", onAbort);
      void messages.return?.().catch(() => undefined);
    }
  }

  #invoke(context: RequestContext, method: DescMethod, input: object, options: LocalOptions = {}): unknown {
    this.#require(context, permissionsFor(method));
    const call = createHandlerContext({
      service: method.parent,
      method,
      protocolName: context.protocol,
      requestMethod: "POST",
      url: `http://localhost/${operationOf(method)}`,
      contextValues: callValues(context),
      ...(options.signal && { requestSignal: options.signal }),
    });
    const implementation = this.#services.get(method.parent.typeName)![method.localName]!;
    return implementation(create(method.input, input as MessageInitShape<typeof method.input>), call);
  }

  /** If there are several, the method itself requires the one that depends on the message. */
  #require(context: RequestContext, permissions: readonly Permission[]): void {
    this.#gate.require(context, ...permissions);
  }
}

function operationOf({ parent, name }: DescMethod): string {
  return `${parent.typeName}/${name}`;
}
