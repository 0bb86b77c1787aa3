import type { Application } from "../../operations/health/application.ts";
import type { TrustedProxies } from "../../server/peer.ts";
import type { SecurityScheme, ServedRoute } from "../openapi/document.ts";
import type { Answer, Operation } from "./operation.ts";
import { Representation } from "./representation.ts";
import { requestOrigin } from "./request-target.ts";

/** What the document needs to know of the gateway. */
export interface DocumentSettings {
  readonly basePath: string;
  readonly trustedProxies?: TrustedProxies | undefined;
  /** How callers can authenticate. Default: they need not. */
  readonly schemes?: readonly SecurityScheme[] | undefined;
}

/**
 * GET of the OpenAPI document of everything that is served, with the address that the caller uses. Always answers with
 * `application/json`, whatever the Accept header prefers: every client of such documents understands it.
 */
export function readOpenApi(
  application: Application,
  { basePath, trustedProxies, schemes = [] }: DocumentSettings,
  routes: () => readonly ServedRoute[],
): Operation {
  let written: string | undefined;
  let answer: Answer;
  return {
    ownTypes: true,
    async run(call) {
      const serverUrl = requestOrigin(call, trustedProxies) + call.mount;
      if (serverUrl !== written) {
        const { openApiDocument } = await import("../openapi/document.ts");
        const document = openApiDocument({ application, basePath, serverUrl, served: routes(), schemes });
        const representation = new Representation(JSON.stringify(document));
        answer = { status: 200, representation, tagged: true, contentType: "application/json" };
        written = serverUrl;
      }
      return answer;
    },
  };
}
