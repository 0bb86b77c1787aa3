import { setTimeout as delay } from "node:timers/promises";
import {
  create,
  type DescMessage,
  type DescService,
  type Message,
  type MessageShape,
  type Registry,
} from "@bufbuild/protobuf";
import { type Any, anyPack } from "@bufbuild/protobuf/wkt";
import { ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import { timeout } from "../../src/http/rpc/calls/deadline.ts";

/** The service of the conformance suite, whose descriptors are read at run time; see its service.proto. */
export const PACKAGE = "connectrpc.conformance.v1";

interface Header {
  readonly name: string;
  readonly value: string[];
}

interface ErrorDefinition {
  readonly code: number;
  readonly message?: string;
  readonly details: Any[];
}

interface UnaryDefinition {
  readonly responseHeaders: Header[];
  readonly response:
    | { readonly case: "responseData"; readonly value: Uint8Array }
    | { readonly case: "error"; readonly value: ErrorDefinition }
    | { readonly case: undefined };
  readonly responseTrailers: Header[];
  readonly responseDelayMs: number;
}

interface StreamDefinition {
  readonly responseHeaders: Header[];
  readonly responseData: Uint8Array[];
  readonly responseDelayMs: number;
  readonly error?: ErrorDefinition;
  readonly responseTrailers: Header[];
}

type UnaryRequest = Message & { readonly responseDefinition?: UnaryDefinition };
type StreamRequest = Message & { readonly responseDefinition?: StreamDefinition; readonly fullDuplex?: boolean };

/** What the suite asks of a server: each request says what is answered, and is answered with what was seen of it. */
export function conformanceService(registry: Registry): { service: DescService; methods: Partial<ServiceImpl<never>> } {
  const service = registry.getService(`${PACKAGE}.ConformanceService`)!;
  const requestInfo = registry.getMessage(`${PACKAGE}.ConformancePayload.RequestInfo`)!;

  const pack = (message: Message): Any => anyPack(registry.getMessage(message.$typeName)!, message as never);

  function seen(context: HandlerContext, requests: readonly Message[]): MessageShape<DescMessage> {
    // Of connect's path and of the direct path.
    const timeoutMs = context.values.get(timeout) ?? context.timeoutMs();
    const query = [...new URL(context.url).searchParams].map(([name, value]) => ({ name, value: [value] }));
    return create(requestInfo, {
      requestHeaders: [...context.requestHeader].map(([name, value]) => ({ name, value: [value] })),
      ...(timeoutMs !== undefined && { timeoutMs: BigInt(Math.round(timeoutMs)) }),
      requests: requests.map(pack),
      ...(context.requestMethod === "GET" && { connectGetInfo: { queryParams: query } }),
    } as never);
  }

  async function unary(requests: readonly UnaryRequest[], context: HandlerContext): Promise<object> {
    const definition = requests[0]?.responseDefinition;
    announce(definition, context);
    await delay(definition?.responseDelayMs ?? 0);
    const info = seen(context, requests);
    const response = definition?.response;
    if (response?.case === "error") throw errorOf(response.value, pack(info));
    return { payload: { ...(response?.case === "responseData" && { data: response.value }), requestInfo: info } };
  }

  /** What is left to send of a definition; the first answer says what was seen of the request. */
  async function* rest(
    definition: StreamDefinition | undefined,
    sent: number,
    requests: readonly Message[],
    context: HandlerContext,
  ): AsyncIterable<object> {
    const data = definition?.responseData ?? [];
    for (let index = sent; index < data.length; index++) {
      await delay(definition!.responseDelayMs);
      yield { payload: { data: data[index]!, ...(index === 0 && { requestInfo: seen(context, requests) }) } };
    }
    if (definition?.error === undefined) return;
    throw errorOf(definition.error, ...(data.length === 0 ? [pack(seen(context, requests))] : []));
  }

  async function* bidi(requests: AsyncIterable<StreamRequest>, context: HandlerContext): AsyncIterable<object> {
    let first: StreamRequest | undefined;
    let unanswered: Message[] = [];
    let sent = 0;
    for await (const request of requests) {
      first ??= request;
      if (first === request) announce(first.responseDefinition, context);
      unanswered.push(request);
      if (!first.fullDuplex) continue;
      const data = first.responseDefinition?.responseData[sent];
      if (data === undefined) break;
      await delay(first.responseDefinition!.responseDelayMs);
      const requestInfo = sent === 0 ? seen(context, unanswered) : { requests: unanswered.map(pack) };
      yield { payload: { data, requestInfo } };
      unanswered = [];
      sent++;
    }
    yield* rest(first?.responseDefinition, sent, unanswered, context);
  }

  const methods = {
    unary: (request: UnaryRequest, context: HandlerContext) => unary([request], context),
    idempotentUnary: (request: UnaryRequest, context: HandlerContext) => unary([request], context),
    async clientStream(requests: AsyncIterable<UnaryRequest>, context: HandlerContext) {
      const all: UnaryRequest[] = [];
      for await (const request of requests) all.push(request);
      return unary(all, context);
    },
    async *serverStream(request: StreamRequest, context: HandlerContext) {
      announce(request.responseDefinition, context);
      yield* rest(request.responseDefinition, 0, [request], context);
    },
    bidiStream: bidi,
  };
  return { service, methods: methods as Partial<ServiceImpl<never>> };
}

function announce(definition: UnaryDefinition | StreamDefinition | undefined, context: HandlerContext): void {
  append(context.responseHeader, definition?.responseHeaders);
  append(context.responseTrailer, definition?.responseTrailers);
}

function append(headers: Headers, definitions: readonly Header[] = []): void {
  for (const { name, value } of definitions) for (const single of value) headers.append(name, single);
}

function errorOf({ code, message, details }: ErrorDefinition, ...more: readonly Any[]): ConnectError {
  const error = new ConnectError(message ?? "", code);
  for (const { typeUrl, value } of [...details, ...more]) {
    error.details.push({ type: typeUrl.slice(typeUrl.lastIndexOf("/") + 1), value });
  }
  return error;
}
