import type { Permission } from "../../access/permission.ts";
import type { GateRequest, GateResponse } from "../gate/request.ts";
import type { RequestContext } from "../gate/request-context.ts";
import { checkBodyType, JSON_BODY, readJson } from "../rest/body.ts";
import { callCodeOf, problemAnswer, problemOf, Refusal } from "../rest/problem.ts";
import { mountedUrl, parseRequestTarget } from "../rest/request-target.ts";
import { respond } from "../rest/respond.ts";
import { MCP_PATH, operationOf } from "./operations.ts";
import type { McpSettings } from "./settings.ts";
import type { ToolCalls } from "./tool-calls.ts";

/** Answers a request to the path of MCP; returns false for any other, without an effect. Never throws. */
export type McpHandler = (request: GateRequest, response: GateResponse) => boolean;

/** One of these opens the path; a tool requires what it needs. A caller who may only write has no use for an agent. */
const PERMISSIONS: readonly Permission[] = ["loggers:read", "graph:read", "sessions:read", "logs:read"];

const MAX_BODY_BYTES = 64 * 1024;
const BODY = { types: JSON_BODY, typeRequired: true };

/**
 * The streamable HTTP transport of MCP, without sessions: each request is one message, and passes the gate. What speaks the protocol is
 * loaded with the first one.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports
 */
export function mcpHandler(settings: McpSettings): McpHandler {
  const { basePath, gate, rpc, onError } = settings;
  const path = basePath + MCP_PATH;
  let loading: Promise<ToolCalls> | undefined;

  async function load(): Promise<ToolCalls> {
    const { toolCalls } = await import("./tool-calls.ts");
    return toolCalls(settings, await rpc.calls());
  }

  /** What fails to load, as in a process with too many open files, may be loaded later. */
  function loaded(): Promise<ToolCalls> {
    loading ??= load().catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  }

  async function answer(context: RequestContext, response: GateResponse): Promise<void> {
    const { request } = context;
    gate.enter(context);
    if (request.method !== "POST") throw new Refusal(405, "Messages of MCP are sent by POST.", { Allow: "POST" });
    await gate.admit(context, PERMISSIONS);
    checkBodyType(request, BODY);
    const message = await readJson(request, BODY, MAX_BODY_BYTES);
    if (message === undefined || Array.isArray(message)) throw new Refusal(400, "The body must be one message.");
    context.operation = operationOf(message);
    const calls = await loaded();
    await calls.answer(context, response, message);
  }

  async function refuse(error: unknown, context: RequestContext, response: GateResponse): Promise<void> {
    context.failed(error);
    const problem = problemOf(error);
    if (problem.reported) onError(error, `POST ${path}`);
    if (response.headersSent) {
      response.destroy();
      context.end("INTERNAL");
      return;
    }
    const form = { contentType: "application/json", cacheControl: "no-store" };
    await respond(context.request, response, problemAnswer(problem, path, gate.challenge), form);
    context.end(callCodeOf(problem.status));
  }

  return (request, response) => {
    if (parseRequestTarget(mountedUrl(request, basePath).url).path !== path) return false;
    const context = gate.begin(request, response, "mcp");
    context.route = MCP_PATH;
    if (gate.answerPreflight(context, response)) return true;
    answer(context, response)
      .catch((error) => refuse(error, context, response))
      .catch((error) => onError(error, `POST ${path}`));
    return true;
  };
}
