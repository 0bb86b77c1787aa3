import type { Permission } from "../../access/permission.ts";

/** A schema of JSON Schema 2020-12, OpenAPI 3.1's dialect. */
export type Schema = { readonly [keyword: string]: unknown };

/** A place in `components`. */
export interface Reference {
  readonly $ref: string;
}

/** A named value that shows what a body looks like. */
export interface Example {
  readonly summary?: string;
  readonly value: unknown;
}

/** What a body of one media type looks like. */
export interface MediaType {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, Example>>;
}

/** Bodies by media type. */
export type Content = Readonly<Record<string, MediaType>>;

/** A header of an answer. */
export interface Header {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: Schema;
  readonly example?: string;
}

/** An answer of one status. Without `content` it has no body. */
export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header | Reference>>;
  readonly content?: Content;
  readonly links?: Readonly<Record<string, Link>>;
}

/** How an answer leads to another operation. */
export interface Link {
  readonly operationId: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Answers by status. */
export type Responses = Readonly<Record<string, Response | Reference>>;

/** A part of a request outside of its body. */
export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly description: string;
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, Example>>;
}

/** What can be done at a path. */
export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly description: string; readonly required: boolean; readonly content: Content };
  readonly responses: Responses;
  readonly security?: readonly SecurityRequirement[];
}

/** Names of schemes, each with what its caller must be allowed to do. All of them together let a caller in. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

/** Everything at one path: operations by method in lower case. */
export type PathItem = Readonly<Record<string, Operation>>;

/** The parts of the document that others refer to. */
export interface Components {
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly headers: Readonly<Record<string, Header>>;
  readonly responses: Readonly<Record<string, Response>>;
  readonly securitySchemes?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** A document of OpenAPI 3.1, as far as this project writes one. */
export interface OpenApiDocument {
  readonly openapi: "3.1.1";
  readonly info: Readonly<Record<string, unknown>>;
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: Components;
}

/** One row of the table of what is served, as far as the document depends on it. */
export interface ServedRoute {
  readonly method: string;
  /** Below the base path: `/loggers/{name}`; empty for the index. */
  readonly path: string;
  /** What its caller must be allowed to do, where callers are asked who they are. */
  readonly permission: Permission;
  /** Whether those without the permission are answered too, with less. */
  readonly open: boolean;
}

/** What is written by hand of one endpoint. Statuses that any operation can answer, and its security, are added to it. */
export interface EndpointPart {
  readonly tag: { readonly name: string; readonly description: string };
  /** By method and path below the base path, such as `GET /loggers/{name}`. */
  readonly operations: Readonly<Record<string, Omit<Operation, "security" | "tags">>>;
  /** What caches may do with its answers. Default: ask again each time. */
  readonly cacheControl?: "NoStore";
  /** Schemas that the operations refer to. */
  readonly schemas?: Readonly<Record<string, Schema>>;
}
