import type { IncomingHttpHeaders } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import type { DescService } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { GateRequest, GateResponse } from "../gate/request.ts";
import type { CallOptions, ServiceOptions } from "./calls/call-options.ts";
import { brotli, gzip } from "./calls/compression.ts";
import { ConnectCalls } from "./connect/connect-calls.ts";
import { DirectCalls } from "./direct/direct-calls.ts";
import { MessageWire } from "./direct/message-wire.ts";
import { StreamWire } from "./direct/stream-wire.ts";

/** Refuses JSON that is not UTF-8, instead of replacing what is not by U+FFFD. */
const JSON_OPTIONS = { ignoreUnknownFields: true, textDecoder: new TextDecoder("utf-8", { fatal: true }) };

/** Answers requests as calls of services: on the direct path what it serves, and by connect everything else. */
export class CallRouter {
  readonly #direct: DirectCalls;
  readonly #connect: ConnectCalls;

  constructor(options: CallOptions) {
    const compressions = [gzip, brotli];
    this.#direct = new DirectCalls(options, compressions);
    this.#connect = new ConnectCalls(options, compressions);
  }

  /** Adds a service. */
  service<S extends DescService>(service: S, methods: Partial<ServiceImpl<S>>, own: ServiceOptions = {}): void {
    const options = { ...own, jsonOptions: { ...JSON_OPTIONS, ...own.jsonOptions } };
    this.#direct.add(service, methods, options);
    this.#connect.add(service, methods, options);
  }

  /** Answers any request; `url` is its URL as at the root. */
  answer(req: GateRequest, res: GateResponse, url: string): void {
    const isRead = req.readableEnded || (req as { readonly body?: unknown }).body !== undefined;
    if (!isRead && this.#direct.answer(url, () => new MessageWire(req, res, url))) return;
    this.#connect.answer(req, res, url);
  }

  /** Answers a stream of HTTP/2 that the direct path serves; returns false for any other, without an effect. */
  answerStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: string[], url: string): boolean {
    return this.#direct.answer(url, () => new StreamWire(stream, headers, rawHeaders, url));
  }
}
