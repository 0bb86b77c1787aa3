/** Answers to calls whose message is still being sent: the client gets the whole answer, and its connection goes on. */
import http from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { createActuator } from "../../../src/index.ts";
import {
  bodyOf,
  exchange2,
  type Heard,
  headersOf,
  heardOn,
  messageIn,
  outcomeOf,
  overEach,
  type RpcFormat,
  UNARY_FORMATS,
} from "../../support/rpc-exchange.ts";
import { http2Connect } from "../../support/server-harness.ts";
import { tokensFor } from "../../support/tokens.ts";

const GET_LOGGER = "/actuator.v3.LoggersService/GetLogger";
const LARGE = 200_000;

async function serveWithTokens() {
  const { file, tokens } = tokensFor({ reader: { permissions: ["loggers:read"] } });
  const actuator = createActuator({ loggers: {}, access: { tokens: file }, audit: false });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url } = await actuator.listen({ port: 0 });
  return { url, authorization: `Bearer ${tokens.reader}` };
}

interface Early {
  readonly what: string;
  readonly path?: string;
  readonly isAnonymous?: true;
  readonly code: string;
  /** The status over Connect. */
  readonly status: number;
}

const EARLY: readonly Early[] = [
  { what: "over the limit", code: "RESOURCE_EXHAUSTED", status: 429 },
  { what: "unauthenticated", isAnonymous: true, code: "UNAUTHENTICATED", status: 401 },
  { what: "of an unknown method", path: "/actuator.v3.LoggersService/Nothing", code: "UNIMPLEMENTED", status: 404 },
];

const FORMATS = UNARY_FORMATS.filter(({ name }) => ["gRPC", "gRPC-Web", "Connect", "Connect JSON"].includes(name));
const ROWS = overEach(FORMATS).flatMap((row) => EARLY.map((early) => ({ ...row, ...early })));

/** A request that is sent in two parts, the second of which waits until the answer is there. */
interface Halves {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly first: Buffer;
  readonly rest: Buffer;
}

interface Client {
  /** Sends the first part, waits for the whole answer, and sends the rest. */
  early(halves: Halves): Promise<Heard>;
  call(path: string, headers: Record<string, string>, body: Buffer): Promise<Heard>;
  /** The number of connections so far. */
  connections(): number;
}

function http1Client(url: string): Client {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const ports = new Set<number | undefined>();
  async function answerTo(req: http.ClientRequest): Promise<Heard> {
    const res = await new Promise<http.IncomingMessage>((resolve, reject) => {
      req.once("response", resolve).once("error", reject);
    });
    ports.add(req.socket!.localPort);
    const chunks: Buffer[] = [];
    for await (const chunk of res) chunks.push(chunk);
    const strings = (headers: NodeJS.Dict<string | string[]>) => headers as Record<string, string>;
    return {
      status: res.statusCode!,
      headers: strings(res.headers),
      trailers: strings(res.trailers),
      body: Buffer.concat(chunks),
    };
  }
  return {
    async early({ path, headers, first, rest }) {
      const req = http.request(url + path, { method: "POST", agent, headers });
      req.write(first);
      const answer = await answerTo(req);
      await new Promise<void>((resolve) => req.end(rest, resolve));
      return answer;
    },
    call(path, headers, body) {
      const req = http.request(url + path, { method: "POST", agent, headers });
      req.end(body);
      return answerTo(req);
    },
    connections: () => ports.size,
  };
}

async function http2Client(url: string): Promise<Client> {
  const session = await http2Connect(url);
  return {
    async early({ path, headers, first, rest }) {
      const stream = session.request({ ":method": "POST", ":path": path, ...headers });
      const errors: unknown[] = [];
      stream.on("error", (error) => errors.push(error));
      stream.write(first);
      const heard = await heardOn(stream);
      expect(errors).toEqual([]);
      expect(stream.rstCode).toBe(0);
      if (!stream.destroyed) stream.end(rest);
      return heard;
    },
    call: (path, headers, body) => exchange2(session, { path, headers, body }),
    connections: () => (session.destroyed ? 0 : 1),
  };
}

const root = (format: RpcFormat) => bodyOf(format, messageIn(format, { name: "ROOT" }, Buffer.from("\n\u0004ROOT")));

describe("a call that is answered while it is being sent", () => {
  test.each(ROWS)("$what: $over", async ({ format, version, path = GET_LOGGER, isAnonymous, code, status }) => {
    const { url, authorization } = await serveWithTokens();
    const client = version === "HTTP/1.1" ? http1Client(url) : await http2Client(url);
    const whole = bodyOf(format, Buffer.alloc(LARGE, " "));
    const headers = {
      ...headersOf(format),
      "content-length": `${whole.length}`,
      ...(!isAnonymous && { authorization }),
    };
    const halves = { path, headers, first: whole.subarray(0, 1_000), rest: whole.subarray(1_000) };
    const answer = await client.early(halves);
    expect(answer.status).toBe(format.protocol === "Connect" ? status : 200);
    expect(outcomeOf(format, answer).code).toBe(code);
    const next = await client.call(GET_LOGGER, { ...headersOf(format), authorization }, root(format));
    expect(outcomeOf(format, next).code).toBe("OK");
    expect(client.connections()).toBe(1);
  });
});
