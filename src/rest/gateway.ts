import type { Endpoints } from "../endpoints.ts";
import { checkBodyType, readJson } from "./body.ts";
import { JSON_TYPE, MEDIA_TYPES } from "./media-type.ts";
import { mountedUrl } from "./mount.ts";
import { negotiate } from "./negotiation.ts";
import type { Answer, Call, Request, Response } from "./operation.ts";
import type { TrustedProxies } from "./origin.ts";
import { decodeSegment } from "./path-segment.ts";
import { problemAnswer, problemOf, Refusal } from "./problem.ts";
import { isWellFormedTarget, parseRequestTarget, pathBelow } from "./request-target.ts";
import { respond } from "./respond.ts";
import { createRouter, type Match } from "./router.ts";
import { createRoutes } from "./routes.ts";

/** How the REST gateway is set up. */
export interface GatewayOptions {
  /** The path that everything stands under, such as `/actuator`; without a slash at its end. */
  readonly basePath: string;
  /** Which proxies may say, in `X-Forwarded-*`, what the index shows as its own address. Default: none. */
  readonly trustedProxies?: TrustedProxies | undefined;
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
  const { basePath, maxBodyBytes = 64 * 1024 } = options;
  if (!/^(?:\/[\w.~-]+)+$/.test(basePath)) {
    throw new TypeError(`The base path must look like "/actuator", not ${JSON.stringify(basePath)}.`);
  }
  const router = createRouter(createRoutes(endpoints, options));

  return (request, response, next) => {
    const { url, mount } = mountedUrl(request, basePath);
    const target = parseRequestTarget(url);
    const path = pathBelow(basePath, target.path);
    if (path === undefined && next !== undefined) return next();
    const match = path === undefined ? undefined : router(path);
    const contentType = negotiate(request.headers.accept);
    const form = { contentType: contentType ?? JSON_TYPE, cacheControl: match?.resource.cacheControl ?? "no-cache" };

    const reply = (answer: Answer) => respond(request, response, answer, form);
    const fail = (error: unknown) => {
      const problem = problemOf(error);
      if (response.headersSent) response.destroy();
      else reply(problemAnswer(problem, target.path));
      // The route instead of the path: a path may hold the id of a session.
      if (problem.reported) options.onError(error, `${request.method} ${basePath}${match?.resource.path ?? ""}`);
    };
    try {
      if (!isWellFormedTarget(url)) throw new Refusal(400);
      const answer = answerOf({ request, target, mount, match, acceptable: contentType !== undefined, maxBodyBytes });
      if (answer instanceof Promise) answer.then(reply).catch(fail);
      else reply(answer)?.catch(fail);
    } catch (error) {
      fail(error);
    }
  };
}

interface Question {
  readonly request: Request;
  readonly target: Call["target"];
  readonly mount: string;
  readonly match: Match | undefined;
  readonly acceptable: boolean;
  readonly maxBodyBytes: number;
}

/** The checks of the contract, in its order: path, method, type of the body, Accept, body; then the operation. */
function answerOf({ request, target, mount, match, acceptable, maxBodyBytes }: Question): Answer | Promise<Answer> {
  if (match === undefined) throw notFound();
  const { resource, segment } = match;
  const parameter = decodeSegment(segment);
  if (parameter === "" && segment !== "") throw notFound();

  const method = request.method === "HEAD" ? "GET" : request.method!;
  if (method === "OPTIONS") return { status: 200, headers: { Allow: resource.allow } };
  const operation = resource.operations.get(method);
  if (operation === undefined) {
    throw new Refusal(405, `This path answers to ${resource.allow}.`, { Allow: resource.allow });
  }
  if (operation.body !== undefined) checkBodyType(request, operation.body);
  if (!acceptable && method === "GET") {
    throw new Refusal(406, `The answer can be one of the types ${LISTED_TYPES}.`, { Accept: LISTED_TYPES });
  }
  if (operation.body === undefined)
    return operation.run({ request, target, mount, segment, parameter, body: undefined });
  return readJson(request, operation.body, maxBodyBytes).then((body) => {
    return operation.run({ request, target, mount, segment, parameter, body });
  });
}

const LISTED_TYPES = MEDIA_TYPES.join(", ");

function notFound(): Refusal {
  return new Refusal(404, "Nothing is served at this path.");
}
