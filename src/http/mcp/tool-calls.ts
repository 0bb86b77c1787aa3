import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ConnectError } from "@connectrpc/connect";
import { isWrite } from "../../access/permission.ts";
import { ActuatorError } from "../../common/error.ts";
import { isRecord } from "../../common/record.ts";
import { loadSdk, toolServers } from "../../mcp/server.ts";
import type { Tool } from "../../mcp/tool.ts";
import type { CallCode } from "../../operations/calls/call-record.ts";
import { type GateRequest, type GateResponse, headerOf } from "../gate/request.ts";
import type { RequestContext } from "../gate/request-context.ts";
import { callCodeOf } from "../rest/problem.ts";
import { callCodeOf as codeOf } from "../rpc/calls/error.ts";
import type { RpcCalls } from "../rpc/rpc-calls.ts";
import type { McpSettings } from "./settings.ts";

/** What clients before 2026 are told apart by. */
const CLIENT_HEADER = "mcp-session-id";

/** What is read of a message before it is checked. */
interface RequestMessage {
  readonly method?: unknown;
  readonly id?: unknown;
  readonly params?: { readonly requestId?: unknown };
}

/** Answers messages of callers that the gate has admitted. */
export interface ToolCalls {
  answer(context: RequestContext, response: GateResponse, message: unknown): Promise<void>;
}

/**
 * Loads what speaks the protocol.
 *
 * @throws ActuatorError FAILED_PRECONDITION if its package is not installed
 */
export async function toolCalls(settings: McpSettings, { local }: RpcCalls): Promise<ToolCalls> {
  const { application, gate, onError, tools: wanted } = settings;
  const sdk = await loadSdk();
  const serverFor = toolServers(sdk);
  const { name = "application", version = "0" } = application;

  const isServed = (tool: Tool) =>
    tool.services.every((service) => local.serves(service)) && (wanted?.includes(tool.name) ?? true);
  const mayUse = ({ caller }: RequestContext, { permissions }: Tool) =>
    permissions.every((each) => caller!.permissions.has(each) && !(gate.readOnly && isWrite(each)));

  function messageOf(error: unknown, tool: Tool): string {
    if (error instanceof ActuatorError) return error.message;
    if (error instanceof ConnectError) return error.rawMessage;
    onError(error, `mcp ${tool.name}`);
    return "The tool failed for an internal reason.";
  }

  /** The calls under way of clients that cancel by a further message, which names the client and its request. */
  const running = new Map<string, AbortController>();

  function keyOf({ request, caller }: RequestContext, id: unknown): string | undefined {
    const client = headerOf(request, CLIENT_HEADER);
    return client === undefined || id === undefined ? undefined : JSON.stringify([caller!.name, client, id]);
  }

  return {
    async answer(context, response, message) {
      const { method, id, params } = (isRecord(message) ? message : {}) as RequestMessage;
      if (method === "subscriptions/listen") {
        // The tools never change, and the stream would have no end.
        send(response, 404, {
          jsonrpc: "2.0",
          id: id ?? null,
          error: { code: -32601, message: "Method not found" },
        });
        context.end("UNIMPLEMENTED");
        return;
      }
      const gone = new AbortController();
      response.once("close", () => gone.abort());
      // Not a session: nothing is kept. Clients send it with each further message.
      if (method === "initialize") (response as ServerResponse).setHeader(CLIENT_HEADER, randomUUID());
      if (method === "notifications/cancelled") running.get(keyOf(context, params?.requestId) ?? "")?.abort();
      const key = method === "tools/call" ? keyOf(context, id) : undefined;
      if (key !== undefined) {
        running.set(key, gone);
        response.once("close", () => running.get(key) === gone && running.delete(key));
      }
      let outcome: CallCode = "OK";
      const service = {
        name,
        version,
        clients: () => local.clients(context),
        signal: gone.signal,
        // A call of a tool that is not listed is refused by its permissions, which the call log records.
        offers: (tool: Tool) => isServed(tool) && (context.operation === `mcp ${tool.name}` || mayUse(context, tool)),
        messageOf(error: unknown, tool: Tool) {
          context.failed(error);
          outcome = gone.signal.aborted ? "CANCELLED" : outcomeOf(error);
          return outcome === "CANCELLED" ? "The call was cancelled." : messageOf(error, tool);
        },
      };
      const handler = sdk.createMcpHandler(() => serverFor(service), {
        onerror: () => undefined,
      });
      const answer = await handler.fetch(webRequest(context.request, gone.signal), { parsedBody: message });
      await write(answer, response);
      context.end(outcome === "OK" ? callCodeOf(answer.status) : outcome);
    },
  };
}

function outcomeOf(error: unknown): CallCode {
  if (error instanceof ActuatorError) return error.code;
  return error instanceof ConnectError ? codeOf(error) : "INTERNAL";
}

/** The request without its body, which is parsed already. */
function webRequest({ headers }: GateRequest, signal: AbortSignal): Request {
  const given = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === "string" && !name.startsWith(":")) given.set(name, value);
  }
  return new Request("http://localhost/mcp", { method: "POST", headers: given, signal });
}

/** Node.js warns of headers of the connection over HTTP/2. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set(["connection", "keep-alive", "transfer-encoding"]);

async function write(answer: Response, response: GateResponse): Promise<void> {
  const sender = response as ServerResponse;
  for (const [name, value] of answer.headers) {
    if (!CONNECTION_HEADERS.has(name)) sender.setHeader(name, value);
  }
  sender.setHeader("cache-control", "no-store");
  sender.setHeader("x-content-type-options", "nosniff");
  // nginx would buffer the progress of a call.
  sender.setHeader("x-accel-buffering", "no");
  sender.statusCode = answer.status;
  if (answer.body === null) sender.end();
  // A client that goes away has got what it wanted.
  else await pipeline(Readable.fromWeb(answer.body as never), sender).catch(() => undefined);
}

function send(response: GateResponse, status: number, body: object): void {
  const sender = response as ServerResponse;
  const text = JSON.stringify(body);
  sender.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  sender.end(text);
}
