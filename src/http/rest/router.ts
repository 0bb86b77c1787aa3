import type { Route } from "./routes.ts";

/** All that one path of the table can do. */
export interface Resource {
  /** As the table writes it: `/loggers/{name}`. */
  readonly path: string;
  /** By method. */
  readonly operations: ReadonlyMap<string, Route>;
  /** The methods, as an `Allow` header lists them. */
  readonly allow: string;
  readonly cacheControl: string;
}

/** The resource at a path, and the last segment of the path as it came. */
export interface Match {
  readonly resource: Resource;
  /** Empty where the path of the resource has no parameter. */
  readonly segment: string;
}

/** Finds what stands at a path below the base path; undefined where nothing does. */
export type Router = (path: string) => Match | undefined;

/** Derives from the table which paths there are and what each can do. */
export function createRouter(routes: readonly Route[]): Router {
  const fixed = new Map<string, Match>();
  const parents = new Map<string, Resource>();
  for (const resource of resourcesOf(routes)) {
    const parameter = resource.path.indexOf("/{");
    if (parameter < 0) fixed.set(resource.path, { resource, segment: "" });
    else parents.set(resource.path.slice(0, parameter), resource);
  }
  return (path) => {
    const slash = path.lastIndexOf("/");
    const resource = slash > 0 && slash < path.length - 1 ? parents.get(path.slice(0, slash)) : undefined;
    return resource === undefined ? fixed.get(path) : { resource, segment: path.slice(slash + 1) };
  };
}

function resourcesOf(routes: readonly Route[]): Resource[] {
  return [...Map.groupBy(routes, ({ path }) => path)].map(([path, rows]) => ({
    path,
    operations: new Map(rows.map((route) => [route.method, route])),
    allow: [...rows.map(({ method }) => method), "HEAD", "OPTIONS"].join(", "),
    // Session ids are credentials: no cache may keep them. Everything else is asked for again each time.
    cacheControl: rows[0]!.endpoint === "sessions" ? "no-store" : "no-cache",
  }));
}
