import { onTestFinished } from "vitest";
import { type RestApplication, type RestApplicationOptions, restApplication } from "./rest-application.ts";
import type { RestClient, RestRequest, RestResponse } from "./rest-client.ts";
import { REST_HOSTS } from "./rest-hosts.ts";

/** An application whose gateway is served until the test ends. */
export interface RestServer extends RestApplication {
  readonly port: number;
  readonly send: RestClient;
  get(path: string, headers?: RestRequest["headers"]): Promise<RestResponse>;
  /** POSTs a change of level. A string is sent as it stands, anything else as JSON. */
  post(path: string, body: unknown, headers?: RestRequest["headers"]): Promise<RestResponse>;
}

/** Serves an application, whose answers all have to be as the OpenAPI document says, in node:http unless another of `REST_HOSTS` is named. */
export async function serveRest(options?: RestApplicationOptions, host = "node:http"): Promise<RestServer> {
  const application = restApplication(options);
  const { port, client: unchecked, close } = await REST_HOSTS[host]!(application.gateway);
  onTestFinished(close);
  const client = application.checked(unchecked);
  return {
    ...application,
    port,
    send: client,
    get: (path, headers = {}) => client({ path, headers }),
    post: (path, body, headers = { "Content-Type": "application/json" }) => {
      const text = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
      return client({ method: "POST", path, headers, body: text });
    },
  };
}

/** What an error's body says, and that it has the contract's keys in their order. */
export function problemIn({ text }: RestResponse): { status: number; error: string; message: string; path: string } {
  const { timestamp, ...problem } = JSON.parse(text);
  const keys = ["timestamp", "status", "error", "message", "path"];
  if (JSON.stringify(Object.keys(JSON.parse(text))) !== JSON.stringify(keys)) throw new Error(`No error body: ${text}`);
  if (new Date(timestamp).toISOString() !== timestamp) throw new Error(`No time: ${timestamp}`);
  return problem;
}
