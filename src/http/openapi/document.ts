import { APPLICATION } from "./application.ts";
import { allowHeader, HEADERS } from "./headers.ts";
import { HEALTH } from "./health.ts";
import { INTEGRATION_GRAPH } from "./integration-graph.ts";
import { LOGGERS } from "./loggers.ts";
import type {
  Components,
  EndpointPart,
  OpenApiDocument,
  Operation,
  PathItem,
  Responses,
  Schema,
  ServedRoute,
} from "./model.ts";
import { PROBLEM, PROBLEM_RESPONSES, problems } from "./problems.ts";
import { PROMETHEUS } from "./prometheus.ts";
import { nothing } from "./responses.ts";
import { SECURITY_SCHEMES, type SecurityScheme, security } from "./security.ts";
import { SEGMENT } from "./segment.ts";
import { SELF } from "./self.ts";
import { SESSIONS } from "./sessions.ts";

/** What the document depends on. */
export interface OpenApiSettings {
  /** Of the application that is managed. */
  readonly application: { readonly name?: string | undefined; readonly version?: string | undefined };
  /** The path that everything stands under, such as `/actuator`. */
  readonly basePath: string;
  /** What stands before the base path, such as `https://example.test/prefix`. */
  readonly serverUrl: string;
  /** What is served. Nothing else is in the document. */
  readonly served: readonly ServedRoute[];
  /** How callers can say who they are; none where nobody is asked. */
  readonly schemes: readonly SecurityScheme[];
}

const PARTS: readonly EndpointPart[] = [APPLICATION, HEALTH, LOGGERS, SESSIONS, INTEGRATION_GRAPH, PROMETHEUS, SELF];

const TIMESTAMP: Schema = {
  description: "A time in UTC, with milliseconds.",
  type: "string",
  format: "date-time",
  pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$",
};

/**
 * The document of OpenAPI 3.1 that describes the REST interface as this server serves it.
 *
 * @throws TypeError for a route that no part describes: whoever adds one has to.
 */
export function openApiDocument(settings: OpenApiSettings): OpenApiDocument {
  const { application, basePath, serverUrl, served } = settings;
  const parts = new Set(served.map(partOf));
  const paths = Map.groupBy(served, ({ path }) => path);
  return {
    openapi: "3.1.1",
    info: {
      title: `Management of ${application.name ?? "an application"}`,
      version: "3",
      summary: "Loggers, sessions and the integration graph of a running application",
      description: DESCRIPTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: serverUrl, description: "The server that answered with this document." }],
    tags: [...parts].map(({ tag }) => tag),
    paths: Object.fromEntries([...paths].map(([path, routes]) => [basePath + path, pathItem(routes, settings)])),
    components: components([...parts], settings.schemes),
  };
}

const DESCRIPTION = `Answers are of the type \`application/vnd.service.actuator.v3+json\` unless the Accept header prefers another of the four.
HEAD answers as GET does, without the body. A method that a path does not have is answered with 405 and \`Allow\`, an unknown path with 404 and the body of an error.
Checks come in this order: path, method, access, type of the body, Accept, body.
The same can be done over gRPC, gRPC-Web and Connect on the same port, and more.`;

function partOf({ method, path }: ServedRoute): EndpointPart {
  const part = PARTS.find(({ operations }) => `${method} ${path}` in operations);
  if (part === undefined) throw new TypeError(`No part of the OpenAPI document describes ${method} ${path}.`);
  return part;
}

function pathItem(routes: readonly ServedRoute[], settings: OpenApiSettings): PathItem {
  const operations = routes.map((route) => [route.method.toLowerCase(), operation(route, settings)] as const);
  return Object.fromEntries([...operations, ["options", options(routes)]]);
}

function operation(route: ServedRoute, { schemes, served }: OpenApiSettings): Operation {
  const { responses, ...written } = writtenOf(route);
  return {
    ...written,
    tags: [partOf(route).tag.name],
    ...security(schemes, route),
    responses: {
      ...problems("BadRequest", "Forbidden", "InternalServerError"),
      ...(schemes.length > 0 && !route.open && problems("Unauthorized", "TooManyRequests", "ServiceUnavailable")),
      ...withLinksTo(new Set(served.map((other) => writtenOf(other).operationId)), responses),
    },
  };
}

/** The operation of a route as it is written by hand. */
function writtenOf(route: ServedRoute) {
  return partOf(route).operations[`${route.method} ${route.path}`]!;
}

/** Leaves out links to what is not served. */
function withLinksTo(served: ReadonlySet<string>, responses: Responses): Responses {
  const kept = Object.entries(responses).map(([status, response]) => {
    if (!("links" in response)) return [status, response] as const;
    const { links, ...rest } = response;
    const some = Object.entries(links!).filter(([, { operationId }]) => served.has(operationId));
    return [status, some.length === 0 ? rest : { ...rest, links: Object.fromEntries(some) }] as const;
  });
  return Object.fromEntries(kept);
}

function options(routes: readonly ServedRoute[]): Operation {
  const part = partOf(routes[0]!);
  const { operationId, parameters = [] } = writtenOf(routes[0]!);
  const { headers, description } = nothing("What can be done at the path. There is no body.", part.cacheControl);
  const allow = allowHeader(routes.map(({ method }) => method));
  return {
    operationId: `optionsOf${operationId.replace(/^[a-z]+/, "")}`,
    tags: [part.tag.name],
    summary: "The methods of the path",
    description: "For monitoring servers that probe with OPTIONS.",
    // What a path can hold decides, not what the operations make of it.
    parameters: parameters.filter((parameter) => parameter.in === "path").map((path) => ({ ...path, schema: SEGMENT })),
    responses: {
      200: { description, headers: { ...headers, Allow: allow } },
      ...problems("BadRequest", "Forbidden"),
    },
    security: [],
  };
}

function components(parts: readonly EndpointPart[], schemes: readonly SecurityScheme[]): Components {
  const schemas = Object.assign({ Problem: PROBLEM, Timestamp: TIMESTAMP }, ...parts.map(({ schemas }) => schemas));
  const securitySchemes = Object.fromEntries(schemes.map((scheme) => [scheme, SECURITY_SCHEMES[scheme]]));
  return {
    schemas,
    headers: HEADERS,
    responses: PROBLEM_RESPONSES,
    ...(schemes.length > 0 && { securitySchemes }),
  };
}
