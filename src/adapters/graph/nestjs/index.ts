import { checkOptions, oneOf } from "../../../common/options.ts";
import type { Detach, GraphAdapter, GraphHost } from "../../../integration-graph/adapter.ts";
import { requireVersion } from "../../kit/library-version.ts";
import { WatchedObjects } from "../../kit/messaging/watching-adapter.ts";
import { watchClients } from "./clients.ts";
import { componentsOf, type NestApplication, portsOf, senders } from "./container.ts";
import { watchCqrs } from "./cqrs.ts";
import { watchListeners, watchQueues, watchRoutes, watchSchedules } from "./methods.ts";
import { watchPatterns } from "./patterns.ts";
import { Site } from "./site.ts";

/** Options of {@link nestjsSource}. */
export interface NestjsMessagingOptions {
  /**
   * The HTTP routes that are endpoints: those of controllers that can send messages, themselves or through a provider
   * ("senders", the default), all, or none. Most routes of most applications have nothing to do with messages, and would hide those
   * that do. A channel of amqplib that the application provides by itself is not recognised; then "all" shows its routes.
   */
  readonly routes?: "senders" | "all" | "none" | undefined;
}

export type { NestApplication } from "./container.ts";

const ROUTES = ["senders", "all", "none"] as const;

const watched = new WatchedObjects("application");

/**
 * Shows what handles and sends messages in an application of NestJS. Attach it between `NestFactory.create()` and `listen()`,
 * `init()` or `startAllMicroservices()`: after that, NestJS has taken some methods as they are.
 *
 * - Handlers are in the graph before any message, as the container of NestJS knows them: of @nestjs/cqrs with sagas, `@MessagePattern`
 *   and `@EventPattern` with their servers, `@OnEvent`, `@Processor` of @nestjs/bullmq, `@Cron`, `@Interval` and `@Timeout`, and routes
 *   of HTTP, of those controllers that can send. A class with one handler is shown by its name, any other handler as `Class.method`.
 * - What a handler sends, directly or after awaits, by buses, emitter, clients and queues, is seen when it does. Before that,
 *   `properties.injected` lists what its class can send with, without links, since not every method uses all of it.
 * - Counts are those of the libraries' own adapters. If one of these counts a system (`amqplib`, `bullmq` …), this one only draws
 *   handlers. Its channels have the same keys.
 * - If a handler has several inputs and it is not known by which a message came, the message counts at the handler alone.
 * - Handlers that NestJS makes for each request are measured at their class, as long as one application of the process uses it.
 *   Clients that are injected by `@Client()` are not seen, nor flows of BullMQ.
 *
 * @example
 * ```ts
 * const app = await NestFactory.create(AppModule);
 * flow.attach(nestjsSource(app));
 * await app.listen(3000);
 * ```
 * @throws ActuatorError INVALID_ARGUMENT if `app` is not an application of NestJS.
 */
export function nestjsSource(app: NestApplication, options: NestjsMessagingOptions = {}): GraphAdapter {
  checkOptions("nestjsSource", options, { routes: oneOf(...ROUTES) });
  const { routes = "senders" } = options;
  requireVersion({ subpath: "nestjs-messaging", library: "@nestjs/core", versions: "10 to 12" });
  componentsOf(app);
  return {
    name: "nestjs-messaging",
    attach(host: GraphHost): Detach {
      const container = Reflect.get(app, "container") as object;
      const site = new Site(host);
      const end = () => site.end();
      watched.enter(container, host.yields ? end : undefined);
      site.atEnd(() => watched.leave(container));
      try {
        watchApplication(site, app, routes);
      } catch (error) {
        end();
        throw error;
      }
      return end;
    },
  };
}

function watchApplication(site: Site, app: NestApplication, routes: (typeof ROUTES)[number]): void {
  const components = componentsOf(app);
  const ports = portsOf(components.flatMap(({ instance }) => instance ?? []));
  const controllers = components.filter(({ controller }) => controller);
  const sending = senders(components, ports);
  watchCqrs(site, components, ports);
  watchListeners(site, components, ports);
  watchQueues(site, components, ports);
  watchSchedules(site, components);
  watchPatterns(site, controllers, app);
  if (routes !== "none")
    watchRoutes(
      site,
      controllers.filter((one) => routes === "all" || sending.has(one)),
    );
  watchClients(site, ports);
}
