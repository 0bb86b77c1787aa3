import type { Application } from "../../operations/health/application.ts";
import type { Gate } from "../gate/gate.ts";
import type { RpcHandler } from "../rpc/handler.ts";
import type { McpOptions } from "./options.ts";

/** What MCP is served with. */
export interface McpSettings extends McpOptions {
  readonly application: Application;
  readonly basePath: string;
  readonly gate: Gate;
  readonly rpc: Pick<RpcHandler, "calls">;
  /** Receives every error that clients see only as an internal one. */
  onError(error: unknown, context: string): void;
}
