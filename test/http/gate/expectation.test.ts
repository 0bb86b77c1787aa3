import { once } from "node:events";
import http from "node:http";
import type { ClientHttp2Stream } from "node:http2";
import { expect, onTestFinished, test } from "vitest";
import { createActuator } from "../../../src/index.ts";
import { http2Connect } from "../../support/server-harness.ts";
import { tokensFor } from "../../support/tokens.ts";

const REST = "/actuator/loggers/orders";
const RPC = "/actuator.v3.LoggersService/SetLoggerLevel";
const BODIES: Readonly<Record<string, string>> = {
  [REST]: '{"configuredLevel":"DEBUG"}',
  [RPC]: '{"name":"orders","level":"LEVEL_DEBUG"}',
};

/** What becomes of a write whose client holds the body back until it is told to go on. */
interface Fate {
  readonly status: number;
  readonly asked: boolean;
}

type Client = (url: string, path: string, headers: http.OutgoingHttpHeaders, body: string) => Promise<Fate>;

const CLIENTS: Readonly<Record<string, Client>> = {
  async "HTTP/1.1"(url, path, headers, body) {
    const request = http.request(url + path, { method: "POST", headers: { ...headers, Expect: "100-continue" } });
    onTestFinished(() => void request.destroy());
    let asked = false;
    request.on("continue", () => {
      asked = true;
      request.end(body);
    });
    request.flushHeaders();
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    return { status: response.statusCode!, asked };
  },
  async "HTTP/2"(url, path, headers, body) {
    const session = await http2Connect(url);
    const fields = { ":method": "POST", ":path": path, expect: "100-continue", ...headers };
    const stream: ClientHttp2Stream = session.request(fields, { endStream: false });
    let asked = false;
    stream.on("continue", () => {
      asked = true;
      stream.end(body);
    });
    const [answer] = await once(stream, "response");
    return { status: answer[":status"], asked };
  },
};

test.each(
  Object.keys(CLIENTS).flatMap((protocol) =>
    [REST, RPC].flatMap((path) => [
      { protocol, path, who: "writer", fate: { status: path === REST ? 204 : 200, asked: true } },
      { protocol, path, who: "reader", fate: { status: 403, asked: false } },
      { protocol, path, who: "nobody", fate: { status: 401, asked: false } },
    ]),
  ),
)("over $protocol $who is asked for the body of $path: $fate.asked", async ({ protocol, path, who, fate }) => {
  const { file, tokens } = tokensFor({
    writer: { permissions: ["loggers:write"] },
    reader: { permissions: ["loggers:read"] },
  });
  const actuator = createActuator({ loggers: {}, access: { tokens: file }, audit: false });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url } = await actuator.listen({ port: 0 });
  const token = (tokens as Record<string, string>)[who];
  const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
  const body = BODIES[path]!;
  expect(await CLIENTS[protocol]!(url, path, { ...headers, "content-length": body.length }, body)).toEqual(fate);
});
