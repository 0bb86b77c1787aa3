import { gunzipSync } from "node:zlib";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Header, OpenApiDocument, PathItem, Reference, Response } from "../../src/http/openapi/document.ts";
import { type OpenApiSettings, openApiDocument } from "../../src/http/openapi/document.ts";
import type { RestClient, RestRequest, RestResponse } from "./rest-client.ts";

/** Headers of HTTP itself and of the frameworks around a gateway, which no document describes. */
const TRANSPORT =
  /^(connection|content-length|content-type|date|keep-alive|transfer-encoding|x-powered-by|access-control-.*)$/;

/** Headers that every answer has. Only test/http/rest/headers.test.ts checks them, so that a wrong one fails one test that names it. */
export const COMMON_HEADERS = ["Cache-Control", "Vary", "X-Content-Type-Options", "Content-Encoding"];

type Settings = Pick<OpenApiSettings, "basePath" | "served" | "schemes">;

const contracts = new Map<string, OpenApiContract>();

/** What the document says of an answer, and where. */
interface Found {
  readonly response: Response;
  readonly pointer: string;
}

/** The contract of all that serve the same: schemas are compiled once. */
export function contractOf({ basePath, served, schemes }: Settings): OpenApiContract {
  const settings: Settings = {
    basePath,
    served: served.map(({ method, path, permission, open }) => ({ method, path, permission, open })),
    schemes,
  };
  const key = JSON.stringify(settings);
  let contract = contracts.get(key);
  if (contract === undefined) {
    const document = openApiDocument({ application: {}, serverUrl: "http://127.0.0.1", ...settings });
    contracts.set(key, (contract = new OpenApiContract(document, basePath)));
  }
  return contract;
}

/** Holds answers against an OpenAPI document: their status, type, headers and body. */
export class OpenApiContract {
  readonly #document: OpenApiDocument;
  readonly #basePath: string;
  readonly #ajv = new Ajv2020({ strict: true, allErrors: true, validateSchema: false, allowUnionTypes: true });

  constructor(document: OpenApiDocument, basePath: string) {
    this.#document = document;
    this.#basePath = basePath;
    // ajv-formats is written in CommonJS.
    (addFormats as unknown as (ajv: Ajv2020) => void)(this.#ajv);
    this.#ajv.addVocabulary(Object.keys(document)).addSchema(document, "openapi");
  }

  /** The same client, failing if an answer, but for {@link COMMON_HEADERS}, is not as the document says. */
  checked(client: RestClient): RestClient {
    return async (request) => {
      const answer = await client(request);
      const faults = this.faults(request, answer);
      if (faults.length === 0) return answer;
      const { method = "GET", path } = request;
      throw new Error(`${method} ${path} answered ${answer.status}, not as in the document: ${faults.join("; ")}`);
    };
  }

  /** How an answer, but for {@link COMMON_HEADERS}, differs from the document. */
  faults({ method = "GET", path }: RestRequest, answer: RestResponse): string[] {
    const template = this.#templateOf(path);
    if (template === undefined) return [];
    const item = this.#document.paths[template];
    const found = this.#responseOf(template, method, answer.status);
    if (found === undefined) return ["the status is not in the document"];
    return [
      ...this.#headerFaults(found.response, answer, (name) => !COMMON_HEADERS.includes(name)),
      ...this.#bodyFaults(found, method, answer),
      ...(answer.status === 405 && item !== undefined ? allowFaults(item, answer) : []),
    ];
  }

  /** How one of {@link COMMON_HEADERS} of an answer differs from the document. */
  commonHeaderFaults(name: string, { method = "GET", path }: RestRequest, answer: RestResponse): string[] {
    const template = this.#templateOf(path);
    const found = template === undefined ? undefined : this.#responseOf(template, method, answer.status);
    return found === undefined ? [] : this.#headerFaults(found.response, answer, (each) => each === name);
  }

  /** Headers of an answer that the document does not have. */
  unknownHeaders({ method = "GET", path }: RestRequest, answer: RestResponse): string[] {
    const template = this.#templateOf(path);
    const found = template === undefined ? undefined : this.#responseOf(template, method, answer.status);
    if (found === undefined) return [];
    const known = new Set(Object.keys(found.response.headers ?? {}).map((name) => name.toLowerCase()));
    return Object.keys(answer.headers).filter((name) => !known.has(name) && !TRANSPORT.test(name));
  }

  /** The template of a path; empty for an unknown path, undefined outside the base path. A fixed path precedes one with a parameter. */
  #templateOf(path: string): string | undefined {
    const [target] = path.split("?") as [string];
    if (target !== this.#basePath && !target.startsWith(`${this.#basePath}/`)) return undefined;
    const segments = target.split("/");
    const fits = (template: string) => {
      const parts = template.split("/");
      // What begins with a semicolon has no name left.
      const same = (part: string, at: number) =>
        part[0] === "{" ? /^[^;]/.test(segments[at]!) : part === segments[at];
      return parts.length === segments.length && parts.every(same);
    };
    const templates = Object.keys(this.#document.paths);
    return templates.find((template) => template === target && !template.includes("{")) ?? templates.find(fits) ?? "";
  }

  #responseOf(template: string, method: string, status: number): Found | undefined {
    const item = this.#document.paths[template];
    const name = method === "HEAD" ? "get" : method.toLowerCase();
    const written = item?.[name]?.responses[status];
    if (written !== undefined) {
      if ("$ref" in written) return this.#component(written.$ref);
      return { response: written, pointer: `/paths/${escaped(template)}/${name}/responses/${status}` };
    }
    // What the whole server answers, whatever the path and method, is among the components.
    if (item === undefined && status === 404) return this.#component("NotFound");
    if (item !== undefined && item[name] === undefined && status === 405) return this.#component("MethodNotAllowed");
    if (item?.[name] === undefined && status === 400) return this.#component("BadRequest");
    if (item?.[name] === undefined && status === 403) return this.#component("Forbidden");
    return undefined;
  }

  #component(reference: string): Found {
    const name = reference.split("/").at(-1)!;
    return { response: this.#document.components.responses[name]!, pointer: `/components/responses/${name}` };
  }

  #headerFaults({ headers = {} }: Response, answer: RestResponse, includes: (name: string) => boolean): string[] {
    const faults: string[] = [];
    for (const [name, written] of Object.entries(headers)) {
      if (!includes(name)) continue;
      const header = this.#headerOf(written);
      const value = answer.headers[name.toLowerCase()];
      if (value === undefined) {
        if (header.required && !isBare(answer)) faults.push(`the header ${name} is missing`);
      } else if (!this.#ajv.validate(header.schema, value)) {
        faults.push(`the header ${name} must not be ${JSON.stringify(value)}`);
      }
    }
    return faults;
  }

  #headerOf(written: Header | Reference): Header {
    if (!("$ref" in written)) return written;
    return this.#document.components.headers[written.$ref.split("/").at(-1)!]!;
  }

  #bodyFaults({ response, pointer }: Found, method: string, answer: RestResponse): string[] {
    const { content } = response;
    const type = answer.headers["content-type"];
    const isEmpty = answer.bytes.length === 0;
    if (content === undefined || isBare(answer)) {
      return isEmpty && type === undefined ? [] : ["there must be no body, and no type of one"];
    }
    const [essence] = (type ?? "").split(";") as [string];
    if (content[essence] === undefined) return [`the type must not be ${type}`];
    if (method === "HEAD") return isEmpty ? [] : ["there must be no body"];
    const isCompressed = answer.headers["content-encoding"] === "gzip";
    const text = (isCompressed ? gunzipSync(answer.bytes) : answer.bytes).toString();
    const validate = this.#validator(`openapi#${pointer}/content/${escaped(essence)}/schema`);
    const value = essence.endsWith("json") ? JSON.parse(text) : text;
    return validate(value)
      ? []
      : [`the body does not fit: ${this.#ajv.errorsText(validate.errors)}: ${text.slice(0, 500)}`];
  }

  #validator(reference: string): ValidateFunction {
    return this.#ajv.getSchema(encodeURI(reference)) ?? this.#ajv.compile({ $ref: reference });
  }
}

/** A request line or host that is none of HTTP is answered with 400 and nothing else. */
function isBare({ status, headers, bytes }: RestResponse): boolean {
  return status === 400 && bytes.length === 0 && headers["content-type"] === undefined;
}

function allowFaults(item: PathItem, { headers }: RestResponse): string[] {
  const { Allow } = (item.options!.responses[200] as Response).headers as Record<string, Header>;
  const allow = (Allow!.schema as { const: string }).const;
  return headers.allow === allow ? [] : [`Allow must be ${allow}, not ${headers.allow}`];
}

function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
