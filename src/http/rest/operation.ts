import type { GateRequest as Request, GateResponse as Response } from "../gate/request.ts";
import type { RequestContext } from "../gate/request-context.ts";
import type { Representation } from "./representation.ts";

/** A request and its response over HTTP/1.1 or HTTP/2. */
export type { Request, Response };

/** The target of a request as it was sent: nothing is decoded. */
export interface RequestTarget {
  readonly path: string;
  /** The part after the `?`; empty if there is none. */
  readonly query: string;
  /** Host and port of an absolute target (`GET http://host/path`). */
  readonly authority: string | undefined;
}

/** What an operation gets to know of a request. */
export interface Call {
  readonly request: Request;
  /** The caller; and where an operation notes what it is about. */
  readonly context: RequestContext;
  readonly target: RequestTarget;
  /** The path before the base path, if a framework has mounted the gateway below one; otherwise empty. */
  readonly mount: string;
  /** The last segment of the path as it was sent; empty if the route has no parameter. */
  readonly segment: string;
  /** The decoded `segment`. */
  readonly parameter: string;
  /** The JSON value of the body; undefined if there is none, or the operation does not read it. */
  readonly body: unknown;
}

/** The answer of an operation. */
export interface Answer {
  readonly status: number;
  /** Default: no body. */
  readonly representation?: Representation;
  /** Whether the answer has an entity tag, so that `If-None-Match` can avoid its transfer. */
  readonly tagged?: true;
  /** Replaces the negotiated content type; only for an operation with types of its own. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The content types that an operation reads. */
export interface BodyTypes {
  /** The list for the `Accept` header of an answer of 415. */
  readonly listed: string;
  includes(contentType: string): boolean;
}

/** How the body of a request is read. */
export interface RequestBody {
  readonly types: BodyTypes;
  /** Whether a request without a body needs one of the types, too. */
  readonly typeRequired: boolean;
}

/** The work of a route. A thrown `ActuatorError` is answered with its message, any other error with 500. */
export interface Operation {
  /** Default: the body is not read. */
  readonly body?: RequestBody;
  /** The operation negotiates its own content types; otherwise they are those of `MEDIA_TYPES`. */
  readonly ownTypes?: true;
  /** Synchronous if the domain is, so that the answer is sent before anything else runs. */
  run(call: Call): Answer | Promise<Answer>;
}
