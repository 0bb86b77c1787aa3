import { CREDENTIALS_MISSING } from "../../access/credentials.ts";
import { ActuatorError } from "../../common/error.ts";
import type { TrustedProxies } from "../../server/peer.ts";
import type { Endpoints } from "../endpoints.ts";
import type { Gate } from "../gate/gate.ts";
import type { RequestContext } from "../gate/request-context.ts";
import type { SecurityScheme } from "../openapi/security.ts";
import { checkBodyType, readJson } from "./body.ts";
import { callCodeOf } from "./call-code.ts";
import { JSON_TYPE, MEDIA_TYPES } from "./media-type.ts";
import { mountedUrl } from "./mount.ts";
import { negotiate } from "./negotiation.ts";
import type { Answer, Call, Request, Response } from "./operation.ts";
import { decodeSegment } from "./path-segment.ts";
import { problemAnswer, problemOf, Refusal } from "./problem.ts";
import { isWellFormedTarget, parseRequestTarget, pathBelow } from "./request-target.ts";
import { respond } from "./respond.ts";
import { createRouter, type Match } from "./router.ts";
import { createRoutes, type Route } from "./routes.ts";

/** How the REST gateway is set up. */
export interface GatewayOptions {
  /** The path that everything stands under, such as `/actuator`; without a slash at its end. */
  readonly basePath: string;
  /** Which proxies may say, in `X-Forwarded-*`, what the index shows as its own address. Default: none. */
  readonly trustedProxies?: TrustedProxies | undefined;
  /** How callers can say who they are, for the OpenAPI document. Default: nobody is asked. */
  readonly schemes?: readonly SecurityScheme[] | undefined;
  /** What every request passes before its body is read. */
  readonly gate: Gate;
  /** Hears of every error that a caller is told of only as 500 or 503, with the route that it happened on. */
  onError(error: unknown, context: string): void;
  /** Whether DEBUG and TRACE last only as long as the options of the loggers say. Default: they last for ever. */
  readonly temporaryLevels?: boolean | undefined;
  /** The longest body that is read, in bytes. Default: 64 KiB. */
  readonly maxBodyBytes?: number | undefined;
}

/**
 * Answers a request of node:http or node:http2, or of a framework that hands these on. A path outside the base path is
 * left to `next`, or answered 404 where there is none.
 */
export type Gateway = (request: Request, response: Response, next?: () => void) => void;

/**
 * The REST face of the endpoints, as the contract fixes it: spec section 4.
 *
 * @throws TypeError for a base path that does not begin with a slash, or ends with one.
 */
export function createGateway(endpoints: Endpoints, options: GatewayOptions): Gateway {
  const { basePath, gate, maxBodyBytes = 64 * 1024 } = options;
  if (!/^(?:\/[\w.~-]+)+$/.test(basePath)) {
    throw new TypeError(`The base path must look like "/actuator", not ${JSON.stringify(basePath)}.`);
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
      // The route instead of the path: a path may hold the id of a session.
      if (problem.reported) options.onError(error, `${request.method} ${basePath}${match?.resource.path ?? ""}`);
    };
    try {
      if (!isWellFormedTarget(url)) throw new Refusal(400);
      const route = match && routeOf(match, request);
      // Before anybody is refused, so that the call log can say what was refused.
      context.route = match?.resource.path;
      if (route !== undefined) context.operation = route.name;
      gate.enter(context);
      const acceptable = contentType !== undefined;
      const answer = answerOf({ gate, context, request, target, mount, match, route, acceptable, maxBodyBytes });
      if (answer instanceof Promise) answer.then(reply).catch(fail);
      else reply(answer)?.catch(fail);
    } catch (error) {
      fail(error);
    }
  };
}

interface Question {
  readonly gate: Gate;
  readonly context: RequestContext;
  readonly request: Request;
  readonly target: Call["target"];
  readonly mount: string;
  readonly match: Match | undefined;
  /** What is there for the method. */
  readonly route: Route | undefined;
  readonly acceptable: boolean;
  readonly maxBodyBytes: number;
}

/**
 * The checks of the contract, in its order: path, method, caller, type of the body, Accept, body; then the operation. Where there
 * is one, what the last segment stands for is asked after the caller, so that the call log says who tried to write to no name.
 */
function answerOf(question: Question): Answer | Promise<Answer> {
  const { gate, context, request, match, route } = question;
  if (match === undefined) throw notFound();
  const { resource, segment } = match;
  if (route === undefined) parameterOf(segment);
  if (request.method === "OPTIONS") return { status: 200, headers: { Allow: resource.allow } };
  if (route === undefined) {
    const why = gate.readOnly ? " The actuator is read-only: nothing can be changed through it." : "";
    throw new Refusal(405, `This path answers to ${resource.allow}.${why}`, { Allow: resource.allow });
  }
  const perform = () => performed(question, route, segment);
  const stranger = (error: unknown) => {
    if (!route.open || !isRefused(error)) throw error;
    context.caller = undefined;
    if (isGuess(error)) {
      context.failed(error);
      context.refused = error.code;
    } else {
      context.permission = undefined;
    }
  };
  try {
    const caller = gate.admit(context, [route.permission]);
    if (caller instanceof Promise) return caller.then(undefined, stranger).then(perform);
  } catch (error) {
    stranger(error);
  }
  return perform();
}

function routeOf({ resource }: Match, { method }: Request): Route | undefined {
  return resource.operations.get(method === "HEAD" ? "GET" : method!);
}

function isRefused(error: unknown): error is ActuatorError {
  return error instanceof ActuatorError && error.code !== "INVALID_ARGUMENT";
}

/** Whether somebody has shown wrong credentials, and not just none. */
function isGuess({ code, reason }: ActuatorError): boolean {
  return code === "RESOURCE_EXHAUSTED" || (code === "UNAUTHENTICATED" && reason !== CREDENTIALS_MISSING);
}

function performed(question: Question, route: Route, segment: string): Answer | Promise<Answer> {
  const { request, context, target, mount, acceptable, maxBodyBytes } = question;
  const { operation } = route;
  const parameter = parameterOf(segment);
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
