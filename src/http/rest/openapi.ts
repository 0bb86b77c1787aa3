import type { Application } from "../../operations/health/application.ts";
import type { TrustedProxies } from "../../server/peer.ts";
import { openApiDocument } from "../openapi/document.ts";
import type { ServedRoute } from "../openapi/model.ts";
import type { SecurityScheme } from "../openapi/security.ts";
import type { Answer, Operation } from "./operation.ts";
import { requestOrigin } from "./origin.ts";
import { Representation } from "./representation.ts";

/** What the document has to know of the gateway. */
export interface DocumentSettings {
  readonly basePath: string;
  readonly trustedProxies?: TrustedProxies | undefined;
  /** How callers can say who they are. Default: nobody is asked. */
  readonly schemes?: readonly SecurityScheme[] | undefined;
}

/**
 * GET of the OpenAPI document of everything that is served, under the address that the caller sees. It is there in one type,
 * and is sent whatever Accept prefers: those who know a better type for such documents know this one too.
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
    run(call) {
      const serverUrl = requestOrigin(call, trustedProxies) + call.mount;
      if (serverUrl !== written) {
        const document = openApiDocument({ application, basePath, serverUrl, served: routes(), schemes });
        const representation = new Representation(JSON.stringify(document));
        answer = { status: 200, representation, tagged: true, contentType: "application/json" };
        written = serverUrl;
      }
      return answer;
    },
  };
}
