import { CREDENTIALS_MISSING } from "../../access/credentials.ts";
import { ActuatorError } from "../../common/error.ts";
import type { TrustedProxies } from "../../server/peer.ts";
import type { Endpoints } from "../endpoints.ts";
import type { Gate } from "../gate/gate.ts";
import type { RequestContext } from "../gate/request-context.ts";
import type { SecurityScheme } from "../openapi/document.ts";
import { checkBodyType, readJson } from "./body.ts";
import { JSON_TYPE, MEDIA_TYPES, negotiate } from "./negotiation.ts";
import type { Answer, Call, Request, Response } from "./operation.ts";
import { callCodeOf, problemAnswer, problemOf, Refusal } from "./problem.ts";
import {
  checkQuery,
  decodeSegment,
  isWellFormedTarget,
  mountedUrl,
  parseRequestTarget,
  pathBelow,
} from "./request-target.ts";
import { respond } from "./respond.ts";
import { createRouter, createRoutes, type Match, type Route } from "./routes.ts";

/** Options of the REST gateway. */
export interface GatewayOptions {
  /** The path of the index, below which everything is served, such as `/actuator`; without a final slash. */
  readonly basePath: string;
  /** Proxies whose `X-Forwarded-*` headers determine the addresses in the index. Default: none. */
  readonly trustedProxies?: TrustedProxies | undefined;
  /** Further paths below the base path that the index lists, such as `/mcp`. Default: none. */
  readonly links?: readonly string[] | undefined;
  /** How callers can authenticate, for the OpenAPI document. Default: they need not. */
  readonly schemes?: readonly SecurityScheme[] | undefined;
  /** Checks every request before its body is read. */
  readonly gate: Gate;
  /** Receives every error that the caller sees only as 500 or 503, with the route. */
  onError(error: unknown, context: string): void;
  /** Whether DEBUG and TRACE are temporary, as the options of the loggers say. Default: they are permanent. */
  readonly temporaryLevels?: boolean | undefined;
  /** The maximum size of a body in bytes. Default: 64 KiB. */
  readonly maxBodyBytes?: number | undefined;
}

/**
 * Answers a request of node:http or node:http2, also when a framework passes it on. A path outside the base path goes to `next`, or is
 * answered with 404 if there is no `next`.
 */
export type Gateway = (request: Request, response: Response, next?: () => void) => void;

/**
 * Creates the REST interface of the endpoints: spec section 4.
 *
 * @throws ActuatorError INVALID_ARGUMENT for a base path that does not begin with a slash, or ends with one
 */
export function createGateway(endpoints: Endpoints, options: GatewayOptions): Gateway {
  const { basePath, gate, maxBodyBytes = 64 * 1024 } = options;
  if (!/^(?:\/[\w.~-]+)+$/.test(basePath)) {
    const message = `basePath must be a path such as "/actuator", not ${JSON.stringify(basePath)}`;
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_BASE_PATH", message, { field: "basePath" });
  }
  const router = createRouter(createRoutes(endpoints, { ...options, readOnly: gate.readOnly }));

  return (request, response, next) => {
    const { url, mount } = mountedUrl(request, basePath);
    const target = parseRequestTarget(url);
    const path = pathBelow(basePath, target.path);
    if (path === undefined && next !== undefined) return next();
    const match = path === undefined ? undefined : router(path);
    const contentType = negotiate(request.headers.accept);
    const context = gate.begin(request, response, "rest");
    const form = { contentType: contentType ?? JSON_TYPE, cacheControl: match?.resource.cacheControl ?? "no-cache" };

    const reply = (answer: Answer) => {
      const end = () => context.end(callCodeOf(answer.status));
      const sending = respond(request, response, answer, form);
      return sending === undefined ? end() : sending.then(end);
    };
    const fail = (error: unknown) => {
      context.failed(error);
      const problem = problemOf(error);
      if (response.headersSent) {
        response.destroy();
        context.end("INTERNAL");
      } else {
        reply(problemAnswer(problem, target.path, gate.challenge));
      }
      // The route, not the path, which may have the id of a session.
      if (problem.reported) options.onError(error, `${request.method} ${basePath}${match?.resource.path ?? ""}`);
    };
    try {
      if (!isWellFormedTarget(url)) throw new Refusal(400);
      const route = match && routeOf(match, request);
      // Set before the gate refuses anything, so that the call log has the route of refused requests.
      context.route = match?.resource.path;
      if (route !== undefined) context.operation = route.name;
      gate.enter(context, route?.open);
      const acceptable = contentType !== undefined;
      const answer = answerOf({ gate, context, request, target, mount, match, route, acceptable, maxBodyBytes });
      if (answer instanceof Promise) answer.then(reply).catch(fail);
      else reply(answer)?.catch(fail);
    } catch (error) {
      fail(error);
    }
  };
}

interface Exchange {
  readonly gate: Gate;
  readonly context: RequestContext;
  readonly request: Request;
  readonly target: Call["target"];
  readonly mount: string;
  readonly match: Match | undefined;
  /** Undefined if the path does not have the method. */
  readonly route: Route | undefined;
  readonly acceptable: boolean;
  readonly maxBodyBytes: number;
}

/**
 * Runs the checks in the order of the contract: path, method, caller, type of the body, Accept, body; then the operation. The last segment
 * is decoded only after the caller is known, so that the call log names the caller of a refused write.
 */
function answerOf(exchange: Exchange): Answer | Promise<Answer> {
  const { gate, context, request, match, route } = exchange;
  if (match === undefined) throw notFound();
  const { resource, segment } = match;
  if (route === undefined) parameterOf(segment);
  if (request.method === "OPTIONS") return { status: 200, headers: { Allow: resource.allow } };
  if (route === undefined) {
    const why = gate.readOnly ? " The actuator is read-only." : "";
    throw new Refusal(405, `This path supports ${resource.allow}.${why}`, { Allow: resource.allow });
  }
  const perform = () => performed(exchange, route, segment);
  const admitAnonymously = (error: unknown) => {
    if (!route.open || !isRefused(error)) throw error;
    context.caller = undefined;
    if (isAuthFailure(error)) {
      context.failed(error);
      context.refused = error.code;
    } else {
      context.permission = undefined;
    }
  };
  try {
    const caller = gate.admit(context, [route.permission]);
    if (caller instanceof Promise) return caller.then(undefined, admitAnonymously).then(perform);
  } catch (error) {
    admitAnonymously(error);
  }
  return perform();
}

function routeOf({ resource }: Match, { method }: Request): Route | undefined {
  return resource.operations.get(method === "HEAD" ? "GET" : method!);
}

function isRefused(error: unknown): error is ActuatorError {
  return error instanceof ActuatorError && error.code !== "INVALID_ARGUMENT";
}

/** Whether the caller presented wrong credentials, rather than none. */
function isAuthFailure({ code, reason }: ActuatorError): boolean {
  return code === "RESOURCE_EXHAUSTED" || (code === "UNAUTHENTICATED" && reason !== CREDENTIALS_MISSING);
}

function performed(exchange: Exchange, route: Route, segment: string): Answer | Promise<Answer> {
  const { request, context, target, mount, acceptable, maxBodyBytes } = exchange;
  const { operation } = route;
  const parameter = parameterOf(segment);
  checkQuery(target.query);
  const run = (body: unknown) => operation.run({ request, context, target, mount, segment, parameter, body });
  if (operation.body !== undefined) checkBodyType(request, operation.body);
  if (!acceptable && route.method === "GET" && !operation.ownTypes) {
    throw new Refusal(406, `The answer can be one of the types ${LISTED_TYPES}.`, { Accept: LISTED_TYPES });
  }
  return operation.body === undefined ? run(undefined) : readJson(request, operation.body, maxBodyBytes).then(run);
}

function parameterOf(segment: string): string {
  const parameter = decodeSegment(segment);
  if (parameter === "" && segment !== "") throw notFound();
  return parameter;
}

const LISTED_TYPES = MEDIA_TYPES.join(", ");

function notFound(): Refusal {
  return new Refusal(404, "Nothing is served at this path.");
}
