import { ActuatorError } from "../../common/error.ts";
import { isOnOwnPort } from "../../server/connections.ts";
import type { Gate } from "../gate/gate.ts";
import type { GateRequest, GateResponse } from "../gate/request.ts";
import { codingWeights } from "../rest/negotiation.ts";
import { callCodeOf, problemOf, Refusal } from "../rest/problem.ts";
import { matchesEntityTag } from "../rest/representation.ts";
import { mountedUrl, parseRequestTarget } from "../rest/request-target.ts";
import type { UiFile, UiFiles } from "./files.ts";

/** Answers a request for the page; returns false for any other, without an effect. Never throws. */
export type UiHandler = (request: GateRequest, response: GateResponse) => boolean;

/** What the page is served with. */
export interface UiSettings {
  readonly basePath: string;
  readonly gate: Gate;
  onError(error: unknown, context: string): void;
}

/** The path of the page below the base path. */
export const UI_PATH = "/ui";

/** Reading it, in the call log and the metrics. */
export const UI_OPERATION: string = `GET ${UI_PATH}`;

const NOT_BUILT =
  "The files of the page are missing. In a clone of the repository: node scripts/dashboard.ts. In a bundle: leave the package connect-actuator out of it.";

/** No inline script or style, no outside address, no frame of another page around it. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy": POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

/**
 * Serves the page for browsers below `{basePath}/ui/`. It passes the gate as everything else, but wants no credentials: it is the same for
 * all, has no data, and signs in by itself. On a port of its own, `/` leads browsers to it. Its files are looked for at the first request.
 */
export function uiHandler({ basePath, gate, onError }: UiSettings): UiHandler {
  const root = basePath + UI_PATH;
  let loading: Promise<UiFiles> | undefined;

  function loaded(): Promise<UiFiles> {
    loading ??= import("./files.ts")
      .then(({ uiFiles }) => uiFiles())
      .catch((error) => {
        loading = undefined;
        throw error;
      });
    return loading;
  }

  async function answer(request: GateRequest, response: GateResponse, name: string | undefined): Promise<void> {
    if (request.method !== "GET" && request.method !== "HEAD") {
      throw new Refusal(405, "The page is read with GET.", { Allow: "GET, HEAD" });
    }
    if (name === undefined) {
      redirect(response, `${UI_PATH.slice(1)}/`);
      return;
    }
    const files = await loaded();
    if (files.size === 0) throw new Refusal(503, NOT_BUILT);
    const file = files.get(name || "index.html");
    if (file === undefined) throw new Refusal(404, "The page has no such file.");
    send(request, response, file);
  }

  return (request, response) => {
    const url = request.url ?? "";
    const isRoot = url === "/" && isOnOwnPort(request) && wantsPage(request);
    // Most requests are for something else, and are told so quickly.
    if (!isRoot && !url.includes(UI_PATH)) return false;
    const { path } = isRoot ? { path: "/" } : parseRequestTarget(mountedUrl(request, basePath).url);
    if (!isRoot && path !== root && !path.startsWith(`${root}/`)) return false;
    const context = gate.begin(request, response, "rest");
    context.route = UI_PATH;
    if (request.method === "GET" || request.method === "HEAD") context.operation = UI_OPERATION;
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const refuse = (error: unknown) => {
      context.failed(error);
      const { status, message, headers, reported } = problemOf(error);
      if (reported) onError(error, `GET ${root}`);
      if (response.headersSent) response.destroy();
      else sendRefusal(request, response, { status, message, headers, reason: reasonOf(error) });
      context.end(callCodeOf(status));
    };
    try {
      gate.enter(context);
      gate.requireOpen();
      if (isRoot) {
        redirect(response, `${root.slice(1)}/`);
        context.end("OK");
        return true;
      }
    } catch (error) {
      refuse(error);
      return true;
    }
    answer(request, response, path === root ? undefined : path.slice(root.length + 1))
      .then(() => context.end("OK"))
      .catch(refuse);
    return true;
  };
}

/** @param location relative, so that it holds below the prefix of a proxy */
function redirect(response: GateResponse, location: string): void {
  response.statusCode = 302;
  response.setHeader("Location", location);
  response.end();
}

/** A browser, which names HTML first; other clients of `/` ask for anything, or for JSON. */
function wantsPage({ method, headers }: GateRequest): boolean {
  return method === "GET" && /^text\/html\b/.test(headers.accept ?? "");
}

function send(request: GateRequest, response: GateResponse, { type, tag, isHashed, br, gzip, plain }: UiFile): void {
  // CORS, or the application of a mounted handler, may have set it before.
  const vary = response.getHeader("Vary");
  response.setHeader("Vary", vary === undefined ? "Accept-Encoding" : `${vary}, Accept-Encoding`);
  response.setHeader("Cache-Control", isHashed ? "public, max-age=31536000, immutable" : "no-cache");
  response.setHeader("ETag", tag);
  const known = request.headers["if-none-match"];
  if (known !== undefined && matchesEntityTag(known, tag)) {
    response.statusCode = 304;
    response.end();
    return;
  }
  const weights = codingWeights(String(request.headers["accept-encoding"] ?? ""));
  const accepts = (coding: string) => (weights?.get(coding) ?? 0) > 0;
  const [encoding, body] = accepts("br") ? ["br", br] : accepts("gzip") ? ["gzip", gzip] : ["", plain()];
  if (encoding !== "") response.setHeader("Content-Encoding", encoding);
  response.setHeader("Content-Type", type);
  response.setHeader("Content-Length", body.length);
  // The responses of both HTTP versions have this method, but TypeScript cannot call it on their union.
  const end = response.end.bind(response) as (body?: Buffer) => void;
  end(request.method === "HEAD" ? undefined : body);
}

/** Why there is no page. */
interface UiRefusal {
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly reason: string | undefined;
}

/** Headings by the reason of the refusal. */
const HEADINGS: Readonly<Record<string, string>> = {
  ACCESS_NOT_CONFIGURED: "No access control is configured",
  NOT_LOCAL: "No access control is configured",
  HOST_NOT_ALLOWED: "This host name is not allowed",
};

function reasonOf(error: unknown): string | undefined {
  return error instanceof ActuatorError ? error.reason : undefined;
}

/** Tells the person before the browser, without styles, which the policy would refuse. */
function sendRefusal(request: GateRequest, response: GateResponse, refusal: UiRefusal): void {
  const { status, message, headers, reason = "" } = refusal;
  for (const [name, value] of Object.entries(headers ?? {})) response.setHeader(name, value);
  const heading = HEADINGS[reason] ?? "No page here";
  const text = message || "Nothing is served at this path.";
  const escaped = text.replace(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`);
  const example =
    heading === HEADINGS.NOT_LOCAL ? '\n<pre>createActuator({ access: { tokens: "tokens.json" }, loggers })</pre>' : "";
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${heading}</title>
<h1>${heading}</h1>
<p>${escaped}</p>${example}
</html>
`;
  response.statusCode = status;
  response.setHeader("Cache-Control", "no-store");
  response.setHeader("Content-Type", "text/html; charset=utf-8");
  const end = response.end.bind(response) as (body?: string) => void;
  end(request.method === "HEAD" ? undefined : html);
}
