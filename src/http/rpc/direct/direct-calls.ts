import { create, type DescMessage, type DescMethod, type DescService, type MessageInitShape } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as Idempotency } from "@bufbuild/protobuf/wkt";
import { type Compression, createMethodSerializationLookup } from "@connectrpc/connect/protocol";
import type { CallOptions, ServiceOptions } from "../calls/call-options.ts";
import { hasAuthority, hasInvalidEncoding } from "../calls/node-request.ts";
import { type Format, formatOf, formatOfQuery } from "./format.ts";
import { COMPRESS_MIN_BYTES, Frames } from "./frames.ts";
import type { DirectMethod } from "./method.ts";
import { StreamCall } from "./stream-call.ts";
import { directPath } from "./switch.ts";
import { UnaryCall } from "./unary-call.ts";
import type { Wire } from "./wire.ts";

/**
 * The direct path of calls: unary and server-streaming methods in the formats that clients use every day, without the Fetch API's objects
 * and asynchronous iteration that connect's handlers are made of. It declines everything else, which connect then answers.
 *
 * @see https://connectrpc.com/docs/protocol, https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md and PROTOCOL-WEB.md
 */
export class DirectCalls {
  readonly #options: CallOptions;
  readonly #compressions: Compression[];
  readonly #methods = new Map<string, DirectMethod>();

  constructor(options: CallOptions, compressions: Compression[]) {
    this.#options = options;
    this.#compressions = compressions;
  }

  /** Adds the methods of a service. */
  add(service: DescService, methods: object, own: ServiceOptions): void {
    const options = { bodyTimeoutMs: 0, ...this.#options, ...own, compressions: this.#compressions };
    const limits = { ...options, compressMinBytes: COMPRESS_MIN_BYTES };
    for (const desc of service.methods) {
      const implementation = (methods as Record<string, DirectMethod["implementation"] | undefined>)[desc.localName];
      if (implementation === undefined || !hasOneRequest(desc)) continue;
      const serialization = createMethodSerializationLookup(desc, own.binaryOptions, own.jsonOptions, limits);
      const encode: DirectMethod["encode"] = (message, isBinary) =>
        serialization
          .getO(isBinary)
          .serialize(create(desc.output as DescMessage, message as MessageInitShape<DescMessage>));
      const operation = `${service.typeName}/${desc.name}`;
      this.#methods.set(`/${operation}`, {
        ...options,
        desc,
        operation,
        implementation: implementation.bind(methods),
        decode: (bytes, isBinary) => serialization.getI(isBinary).parse(bytes),
        encode,
        frames: new Frames(encode),
      });
    }
  }

  /** Answers a request if it is one for the direct path; returns false for any other, without an effect. */
  answer(url: string, wireOf: () => Wire): boolean {
    if (!directPath.enabled) return false;
    const mark = url.indexOf("?");
    const of = this.#methods.get(mark === -1 ? url : url.slice(0, mark));
    if (of === undefined) return false;
    const wire = wireOf();
    const { headers } = wire;
    let query: URLSearchParams | undefined;
    let format: Format | undefined;
    if (wire.method === "POST") format = formatOf(of.desc.methodKind, headers["content-type"]);
    else if (wire.method === "GET" && isReadable(of) && headers["content-type"] === undefined) {
      query = new URLSearchParams(mark === -1 ? "" : url.slice(mark + 1));
      format = formatOfQuery(query);
    }
    const isUsual = headers.expect === undefined && !hasInvalidEncoding(url) && hasAuthority(wire.request);
    if (format === undefined || !isUsual) return false;
    const context = this.#options.gate.begin(wire.request, wire.response, format.protocol);
    context.operation = of.operation;
    const call =
      of.desc.methodKind === "unary"
        ? new UnaryCall(of, wire, format, context)
        : new StreamCall(of, wire, format, context);
    call.begin(query);
    return true;
  }
}

function hasOneRequest(desc: DescMethod): desc is DirectMethod["desc"] {
  return desc.methodKind === "unary" || desc.methodKind === "server_streaming";
}

/** Whether a method can be called by GET. */
function isReadable({ desc }: DirectMethod): boolean {
  return desc.methodKind === "unary" && desc.idempotency === Idempotency.NO_SIDE_EFFECTS;
}
