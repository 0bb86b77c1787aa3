import { readFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { Gate } from "../gate/gate.ts";
import type { GateRequest, GateResponse } from "../gate/request.ts";
import { mountedUrl, parseRequestTarget } from "../rest/request-target.ts";

/** Answers a request for the page; returns false for any other, without an effect. */
export type UiHandler = (request: GateRequest, response: GateResponse) => boolean;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Serves the files of the page below `{basePath}/ui/`. */
export function uiHandler({ basePath, gate, folder }: { basePath: string; gate: Gate; folder: string }): UiHandler {
  return (request, response) => {
    const { path } = parseRequestTarget(mountedUrl(request, basePath).url);
    if (!path.startsWith(`${basePath}/ui/`)) return false;
    const context = gate.begin(request, response, "rest");
    gate.enter(context);
    const name = path.slice(`${basePath}/ui/`.length) || "index.html";
    try {
      if (!/^[\w./-]+$/.test(name) || name.includes("..")) throw new Error("not a file");
      const bytes = readFileSync(join(folder, `${name}.gz`));
      response.setHeader("Content-Type", TYPES[extname(name)] ?? "application/octet-stream");
      response.setHeader("Content-Encoding", "gzip");
      response.setHeader("Content-Security-Policy", POLICY);
      response.end(bytes);
    } catch {
      response.statusCode = 404;
      response.end();
    }
    context.end("OK");
    return true;
  };
}
