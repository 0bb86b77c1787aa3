import type { Outcome } from "../../../integration-graph/adapter.ts";
import type { GraphNode } from "../../../integration-graph/node.ts";
import { mayBeRenamed } from "./endpoint.ts";
import type { Endpoints } from "./endpoints.ts";
import type { Route } from "./routes.ts";
import type { Span } from "./span.ts";

/** So many messages wait for the name of the request that they were sent in. */
const MAX_WAITING = 100;

/** What is told of one message that was sent. */
interface Sending {
  readonly route: Route;
  readonly outcome: Outcome;
}

/** A span on whose behalf messages are sent: by itself, and by the local spans under it. */
export class Owner {
  readonly span: Span;
  /** Whether it received messages that other spans below it tell of one by one. */
  processed = false;
  #node: GraphNode | undefined;
  #waiting: Sending[] | undefined;
  #over = false;

  constructor(span: Span) {
    this.span = span;
  }

  /** The node, where the span has come to be shown in the graph. */
  get node(): GraphNode | undefined {
    return this.#node;
  }

  /** A message was sent on its behalf. One that was sent in a request is told of when the request has its name. */
  sent(route: Route, outcome: Outcome, endpoints: Endpoints): void {
    if (this.#node === undefined && !this.#over && mayBeRenamed(this.span)) {
      this.#waiting ??= [];
      if (this.#waiting.length < MAX_WAITING) {
        this.#waiting.push({ route, outcome });
        return;
      }
    }
    this.#node ??= endpoints.nodeOf(this.span);
    endpoints.sent(route, outcome, this.#node);
  }

  /** The span has ended. */
  end(endpoints: Endpoints): void {
    this.#over = true;
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    this.#waiting = undefined;
    for (const { route, outcome } of waiting) this.sent(route, outcome, endpoints);
  }
}
