import type { GateRequest as Request, GateResponse as Response } from "../gate/request.ts";
import type { RequestContext } from "../gate/request-context.ts";
import type { BodyTypes } from "./media-type.ts";
import type { Representation } from "./representation.ts";
import type { RequestTarget } from "./request-target.ts";

/** A request and its answer over either version of HTTP. */
export type { Request, Response };

/** What an operation is told of the request. */
export interface Call {
  readonly request: Request;
  /** Who calls, for operations that need a permission; and where an operation says what it is about. */
  readonly context: RequestContext;
  readonly target: RequestTarget;
  /** The path before the base path, where a framework has mounted the gateway below one; otherwise empty. */
  readonly mount: string;
  /** The last segment of the path as it came; empty where the route has no parameter. */
  readonly segment: string;
  /** What `segment` stands for. */
  readonly parameter: string;
  /** The JSON value of the body; undefined where there is none, or the operation reads none. */
  readonly body: unknown;
}

/** What an operation answers. */
export interface Answer {
  readonly status: number;
  /** Left out, the answer is empty. */
  readonly representation?: Representation;
  /** Whether the representation carries an entity tag, so that `If-None-Match` can spare its transfer. */
  readonly tagged?: true;
  /** What it is sent as, in the place of the type that was negotiated; only for an operation with types of its own. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** How a request's body is read. */
export interface RequestBody {
  readonly types: BodyTypes;
  /** Whether a request without a body needs one of the types, too. */
  readonly typeRequired: boolean;
}

/** What a route does. A thrown `ActuatorError` is answered with its message, anything else with 500. */
export interface Operation {
  /** Left out, a body is not read. */
  readonly body?: RequestBody;
  /** It answers in types of its own, and refuses with 406 itself; otherwise the types are the actuator's. */
  readonly ownTypes?: true;
  /** Synchronous where the domain is, so that the answer is on its way before anything else runs. */
  run(call: Call): Answer | Promise<Answer>;
}
