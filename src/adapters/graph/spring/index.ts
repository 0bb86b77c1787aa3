import { ActuatorError } from "../../../common/error.ts";
import { checkOptions, countFrom, text, textsLike, timerMs } from "../../../common/options.ts";
import type { GraphAdapter, GraphHost } from "../../../integration-graph/adapter.ts";
import type { NodeDeclaration } from "../../../integration-graph/declaration.ts";
import { channelKey, endpointKey } from "../../../integration-graph/node-id.ts";
import { isChannel } from "../../../integration-graph/pattern.ts";
import type { Properties } from "../../../integration-graph/properties.ts";
import type { GraphSource, LinkDeclaration } from "../../../integration-graph/source.ts";
import { Progress } from "./progress.ts";
import {
  leads,
  type RemoteGraph,
  type RemoteNode,
  type RequestOptions,
  remoteGraph,
  requestJson,
} from "./remote-graph.ts";

/** Options of {@link springIntegrationSource}. */
export interface SpringIntegrationOptions extends RequestOptions {
  /** The application's name here. Default: the name that it is configured with, or else the host and port of its address. */
  readonly app?: string | undefined;
  /** How often its numbers are read; 0: only when the graph is rebuilt. Default: 15,000. */
  readonly intervalMs?: number | undefined;
}

const COMPONENT_TYPE = /^[a-z][a-z0-9]*(?:[-:.][a-z0-9]+)*$/;

/**
 * Shows the integration graph of an application on the JVM as a part of this one. It is read from the application's Spring Boot
 * Actuator 3 or 4, at `/actuator/integrationgraph`.
 *
 * Its structure is read now and at every rebuild, its numbers at the interval. While it is unreachable, its part stays as it was and
 * is marked as stale. Channels inside a JVM belong to that application alone: equal names elsewhere are other channels.
 *
 * @example
 * ```ts
 * flow.attach(springIntegrationSource("http://orders:8081/actuator/integrationgraph"));
 * ```
 * @throws ActuatorError INVALID_ARGUMENT if the address is not an HTTP URL, or the interval is invalid.
 */
export function springIntegrationSource(address: string | URL, options: SpringIntegrationOptions = {}): GraphAdapter {
  const url = httpUrl(address);
  checkOptions("springIntegrationSource", options, {
    app: text,
    intervalMs: timerMs,
    headers: textsLike('{ authorization: "Bearer …" }'),
    maxBytes: countFrom(1),
  });
  const { intervalMs = 15_000 } = options;
  return {
    name: "spring-integration",
    attach(host) {
      const progress = new Progress(host);
      const attached = new AbortController();
      const read = async (signal: AbortSignal): Promise<RemoteGraph> => {
        const body = await requestJson(url, options, AbortSignal.any([signal, attached.signal]));
        return remoteGraph(body);
      };
      host.read(source(host, url, options, progress, read));
      const timer = intervalMs === 0 ? undefined : setInterval(refresh, intervalMs);
      timer?.unref();
      let refreshing = false;

      async function refresh(): Promise<void> {
        if (refreshing) return;
        refreshing = true;
        try {
          const remote = await read(AbortSignal.timeout(Math.max(intervalMs, 1_000)));
          if (!attached.signal.aborted) takeNumbers(host, appOf(options, remote, url), remote, progress);
        } catch {
          // A rebuild reports that it is unreachable; until then its numbers stay as they were.
        } finally {
          refreshing = false;
        }
      }

      return () => {
        clearInterval(timer);
        attached.abort();
      };
    },
  };
}

function source(
  host: GraphHost,
  url: URL,
  options: SpringIntegrationOptions,
  progress: Progress,
  read: (signal: AbortSignal) => Promise<RemoteGraph>,
): GraphSource {
  return {
    name: `spring-integration ${url.host}`,
    async read(signal) {
      const remote = await read(signal);
      const app = appOf(options, remote, url);
      const declarations = new Map(remote.nodes.map((node) => [node.id, { node, declared: declaration(app, node) }]));
      const links = remote.links.flatMap((link): LinkDeclaration[] => {
        const [from, to] = [declarations.get(link.from), declarations.get(link.to)];
        if (from === undefined || to === undefined || !leads(link, from.node, to.node)) return [];
        return [{ from: from.declared, type: link.type, to: to.declared }];
      });
      takeNumbers(host, app, remote, progress);
      return { nodes: Array.from(declarations.values(), ({ declared }) => declared), links };
    },
  };
}

function takeNumbers(host: GraphHost, app: string, remote: RemoteGraph, progress: Progress): void {
  const keys = new Set<string>();
  for (const node of remote.nodes) {
    if (node.sends === undefined && node.receives === undefined) continue;
    const here = host.observe(declaration(app, node));
    keys.add(here.key);
    progress.take(here, node);
  }
  progress.endReading(keys);
}

function declaration(app: string, node: RemoteNode): NodeDeclaration {
  const { name, pattern, componentType, properties, handlers } = node;
  return {
    name,
    pattern,
    componentType: componentType !== undefined && COMPONENT_TYPE.test(componentType) ? componentType : undefined,
    properties: properties as Properties,
    handlers: handlers?.filter(({ type }) => COMPONENT_TYPE.test(type)),
    key: isChannel(pattern) ? channelKey("spring", app, "channel", name) : endpointKey(app, pattern, name),
  };
}

function appOf({ app }: SpringIntegrationOptions, { name }: RemoteGraph, url: URL): string {
  return app ?? name ?? url.host;
}

function httpUrl(address: string | URL): URL {
  const url = URL.parse(String(address));
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  const message = "springIntegrationSource() expects a URL, such as http://orders:8081/actuator/integrationgraph";
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_TARGET", message);
}
