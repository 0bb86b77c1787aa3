import type { Permission } from "../../access/permission.ts";
import { OPENAPI_TEMPLATE } from "./template.ts";

/** What the document depends on. */
export interface OpenApiSettings {
  /** The application that is managed. */
  readonly application: { readonly name?: string | undefined; readonly version?: string | undefined };
  /** The path below which everything is served, such as `/actuator`. */
  readonly basePath: string;
  /** The part of addresses before the base path, such as `https://example.test/prefix`. */
  readonly serverUrl: string;
  /** The routes that are served; the document has no others. */
  readonly served: readonly ServedRoute[];
  /** How callers can authenticate; empty if they need not. */
  readonly schemes: readonly SecurityScheme[];
}

/** What the document needs to know of a route. */
export interface ServedRoute {
  readonly method: string;
  /** Below the base path: `/loggers/{name}`; empty for the index. */
  readonly path: string;
  /** The permission that the caller needs, if callers must authenticate. */
  readonly permission: Permission;
  /** Whether callers without the permission get a reduced answer instead of 401 or 403. */
  readonly open: boolean;
}

/** The types of bodies. In the template they stand for each other: the first one has the content of all. */
export const ACTUATOR_TYPES = [
  "application/vnd.service.actuator.v3+json",
  "application/vnd.spring-boot.actuator.v3+json",
  "application/vnd.spring-boot.actuator.v2+json",
  "application/json",
] as const;

const SECURITY_SCHEMES = {
  bearer: {
    type: "http",
    scheme: "bearer",
    description: "A token of the token file, or a JSON Web Token of the configured issuer.",
  },
  basic: {
    type: "http",
    scheme: "basic",
    description: "A token of the token file as the password, with any user name.",
  },
  mutualTLS: { type: "mutualTLS", description: "A client certificate that matches a configured rule." },
} as const;

/** A way in which callers can authenticate. */
export type SecurityScheme = keyof typeof SECURITY_SCHEMES;

/** Any non-empty segment of a path. */
const SEGMENT = { type: "string", minLength: 1, pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f/\\\\]+$" };

/**
 * Makes the OpenAPI 3.1 document of a server from the template, which `openapi.yaml` describes in full: selects what is served and adds
 * addresses, security, OPTIONS, and the headers and errors that all operations share.
 *
 * @throws Error for a route that `openapi.yaml` does not describe
 */
export function openApiDocument(settings: OpenApiSettings): OpenApiDocument {
  const { application, basePath, serverUrl, served, schemes } = settings;
  const { info, servers, tags, paths: described, components, ...rest }: OpenApiDocument = JSON.parse(OPENAPI_TEMPLATE);
  const operations = new Map(served.map((route) => [route, describedIn(described, route)]));
  const operationIds = new Set([...operations.values()].map(({ operationId }) => operationId));
  const paths = Map.groupBy(served, ({ path }) => path);
  const pathItem = (routes: readonly ServedRoute[]): PathItem => {
    const items = routes.map((route): [string, Operation] => {
      const operation = operations.get(route)!;
      return [route.method.toLowerCase(), completed(operation, route, schemes, operationIds)];
    });
    return Object.fromEntries([...items, ["options", optionsOf(operations.get(routes[0]!)!, routes)]]);
  };
  const document = {
    ...rest,
    info: { ...info, title: `Management of ${application.name ?? "an application"}` },
    servers: [{ ...servers[0]!, url: serverUrl }],
    tags: tags.filter(({ name }) => [...operations.values()].some((operation) => operation.tags.includes(name))),
    paths: Object.fromEntries([...paths].map(([path, routes]) => [basePath + path, pathItem(routes)])),
    components: {
      ...components,
      responses: mapValues(components.responses, (response) => withUsualHeaders(response, "CacheControl")),
      ...(schemes.length > 0 && {
        securitySchemes: Object.fromEntries(schemes.map((scheme) => [scheme, SECURITY_SCHEMES[scheme]])),
      }),
    },
  };
  return { ...document, components: { ...document.components, schemas: schemasUsedBy(document) } };
}

function describedIn(paths: OpenApiDocument["paths"], { method, path }: ServedRoute): Operation {
  const operation = paths[path || "/"]?.[method.toLowerCase()];
  if (operation === undefined) throw new Error(`openapi.yaml does not describe ${method} ${path || "/"}`);
  return operation;
}

/** An operation with what the template leaves out: security, common errors, usual headers, all media types. */
function completed(
  operation: Operation,
  route: ServedRoute,
  schemes: readonly SecurityScheme[],
  operationIds: ReadonlySet<string>,
): Operation {
  const { requestBody, responses } = operation;
  const isProtected = schemes.length > 0 && !route.open;
  const required = schemes.map((scheme) => ({ [scheme]: [route.permission] }));
  return {
    ...operation,
    ...(requestBody && { requestBody: { ...requestBody, content: inAllTypes(requestBody.content) } }),
    responses: {
      ...problems({ 400: "BadRequest", 403: "Forbidden", 500: "InternalServerError" }),
      ...(isProtected && problems({ 401: "Unauthorized", 429: "TooManyRequests", 503: "ServiceUnavailable" })),
      ...mapValues(responses, (response) =>
        "$ref" in response
          ? response
          : withUsualHeaders(withLinksTo(operationIds, response), cacheControlOf(operation)),
      ),
    },
    // Explicitly empty, because linters report its absence.
    security: route.open && schemes.length > 0 ? [{}, ...required] : required,
  };
}

function optionsOf(operation: Operation, routes: readonly ServedRoute[]): Operation {
  const { operationId, tags, parameters = [] } = operation;
  const allow = [...routes.map(({ method }) => method), "HEAD", "OPTIONS"].join(", ");
  const response = {
    description: "The methods of the path. No body.",
    headers: {
      Allow: { description: "The methods of this path.", required: true, schema: { type: "string", const: allow } },
    },
  };
  return {
    operationId: `optionsOf${operationId.replace(/^[a-z]+/, "")}`,
    tags,
    summary: "The methods of the path",
    description: "For monitoring servers that probe with OPTIONS.",
    // OPTIONS accepts every segment, also one that the operations refuse.
    parameters: parameters.filter((parameter) => parameter.in === "path").map((path) => ({ ...path, schema: SEGMENT })),
    responses: {
      200: withUsualHeaders(response, cacheControlOf(operation)),
      ...problems({ 400: "BadRequest", 403: "Forbidden" }),
    },
    security: [],
  };
}

function cacheControlOf({ tags }: Operation): string {
  return tags.includes("sessions") ? "NoStore" : "NoCache";
}

function problems(names: Readonly<Record<number, string>>): Readonly<Record<string, Reference>> {
  return mapValues(names, (name) => ({ $ref: `#/components/responses/${name}` }));
}

/** Drops links to operations that are not served. */
function withLinksTo(operationIds: ReadonlySet<string>, { links, ...response }: Response): Response {
  const kept = Object.entries(links ?? {}).filter(([, { operationId }]) => operationIds.has(operationId));
  return kept.length === 0 ? response : { ...response, links: Object.fromEntries(kept) };
}

function withUsualHeaders({ headers, content, ...response }: Response, cacheControl: string): Response {
  const header = (name: string): Reference => ({ $ref: `#/components/headers/${name}` });
  return {
    ...response,
    headers: {
      "Cache-Control": header(cacheControl),
      Vary: header("Vary"),
      "X-Content-Type-Options": header("NoSniff"),
      ...(content && { "Content-Encoding": header("ContentEncoding") }),
      ...headers,
    },
    ...(content && { content: inAllTypes(content) }),
  };
}

function inAllTypes(content: Content): Content {
  const body = content[ACTUATOR_TYPES[0]];
  return body === undefined ? content : Object.fromEntries(ACTUATOR_TYPES.map((type) => [type, body]));
}

/** The schemas that a document refers to, directly or through other schemas. */
function schemasUsedBy({ paths, components }: OpenApiDocument): Components["schemas"] {
  const { schemas } = components;
  const used = new Set<string>();
  const add = (part: unknown) => {
    for (const [, name] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(name!)) continue;
      used.add(name!);
      add(schemas[name!]);
    }
  };
  add([paths, components.responses, components.headers]);
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
}

function mapValues<From, To>(record: Readonly<Record<string, From>>, to: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, to(value)]));
}

/** A document of OpenAPI 3.1, as far as this project uses it. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: Readonly<Record<string, unknown>>;
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: Components;
}

interface Components {
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly headers: Readonly<Record<string, Header>>;
  readonly responses: Readonly<Record<string, Response>>;
  readonly securitySchemes?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** The operations of a path by method in lower case. */
export type PathItem = Readonly<Record<string, Operation>>;

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly description: string; readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Response | Reference>>;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
}

/** A response; without `content` it has no body. */
export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header | Reference>>;
  readonly content?: Content;
  readonly links?: Readonly<Record<string, { readonly operationId: string }>>;
}

/** A header of a response. */
export interface Header {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: Schema;
  readonly example?: string;
}

/** A reference to a component. */
export interface Reference {
  readonly $ref: string;
}

type Content = Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;
type Schema = Readonly<Record<string, unknown>>;
