import type { Outcome } from "../../../integration-graph/adapter.ts";
import { dialectOf } from "./dialects/table.ts";
import { Endpoints } from "./endpoints.ts";
import { type Route, Routes, type Scene } from "./routes.ts";
import type { Span } from "./span.ts";
import { isPolled } from "./systems.ts";
import type { Dialect } from "./traffic.ts";

/** So many instrumentation scopes are remembered. */
const MAX_SCOPES = 200;

interface Speaker {
  readonly dialect: Dialect;
  readonly routes: Routes;
}

/** What the spans of one application say of messages, told to the graph. */
export class Messages {
  readonly endpoints: Endpoints;
  readonly #scene: Scene;
  readonly #scopes = new Map<string, Speaker>();
  readonly #speakers = new Map<Dialect, Speaker>();

  constructor(scene: Scene) {
    this.#scene = scene;
    this.endpoints = new Endpoints(scene, (span) => this.routeOf(span));
  }

  /** What a span says of messages; undefined where it says nothing. */
  routeOf(span: Span): Route | undefined {
    const scope = span.instrumentationScope.name;
    const { dialect, routes } = this.#scopes.get(scope) ?? this.#learn(scope);
    const reading = dialect.read(span);
    return reading === undefined ? undefined : routes.find(reading);
  }

  /** Messages were processed. Each of those that came together has a span of its own, or none has. */
  processed({ handler }: Route, outcome: Outcome): void {
    if (handler === undefined) return;
    handler.state.processes = true;
    this.#scene.host.handled(handler.node, outcome, handler.input);
    if (handler.way !== undefined) handler.way.count += outcome.count ?? 1;
  }

  /** Messages were received. Where no span tells how they were processed, this is all that is known of them. */
  received({ handler, channel, traffic }: Route, outcome: Outcome): void {
    if (handler === undefined || handler.state.processes) return;
    const { host } = this.#scene;
    if (!isPolled(traffic.system)) {
      host.handled(handler.node, outcome, handler.input);
      return;
    }
    if (channel !== undefined) host.received(channel, outcome);
    if (handler.input !== undefined) handler.input.count += outcome.count ?? 1;
  }

  #learn(scope: string): Speaker {
    const dialect = dialectOf(scope);
    let speaker = this.#speakers.get(dialect);
    if (speaker === undefined) {
      speaker = { dialect, routes: new Routes(this.#scene, dialect) };
      this.#speakers.set(dialect, speaker);
    }
    if (this.#scopes.size >= MAX_SCOPES) this.#scopes.clear();
    this.#scopes.set(scope, speaker);
    return speaker;
  }
}
