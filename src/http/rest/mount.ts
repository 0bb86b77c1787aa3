import type { Request } from "./operation.ts";
import { parseRequestTarget, pathBelow } from "./request-target.ts";

/** Where a framework has mounted the gateway, and what of the request is the gateway's. */
export interface Mounted {
  /** The path before the base path, as Express cuts it off; empty where the gateway stands at the root. */
  readonly mount: string;
  readonly url: string;
}

/**
 * Express keeps the whole URL aside and shortens the other by the path that it mounts a handler under. That path may end in the
 * base path (`app.use("/actuator", …)`), or stand before it (`app.use("/manage", …)`).
 */
export function mountedUrl(request: Request, basePath: string): Mounted {
  const { url = "", originalUrl } = request as Request & { readonly originalUrl?: string };
  if (originalUrl === undefined || isBelow(basePath, originalUrl)) return { mount: "", url: originalUrl ?? url };
  if (!isBelow(basePath, url) || !originalUrl.endsWith(url)) return { mount: "", url: originalUrl };
  return { mount: originalUrl.slice(0, -url.length), url };
}

function isBelow(basePath: string, url: string): boolean {
  return pathBelow(basePath, parseRequestTarget(url).path) !== undefined;
}
