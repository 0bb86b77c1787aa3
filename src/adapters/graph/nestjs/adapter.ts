import { described } from "../../../common/described.ts";
import { ActuatorError } from "../../../common/error.ts";
import { checkOptions, oneOf } from "../../../common/options.ts";
import type { Detach, GraphAdapter, GraphHost } from "../../../integration-graph/adapter.ts";
import { requireVersion } from "../../kit/library-version.ts";
import { WatchedObjects } from "../../kit/messaging/watching-adapter.ts";
import { watchClients } from "./clients.ts";
import { componentsOf, type NestApplication } from "./container.ts";
import { watchCqrs } from "./cqrs.ts";
import { watchListeners } from "./listeners.ts";
import type { NestjsMessagingOptions } from "./options.ts";
import { watchPatterns } from "./patterns.ts";
import { portsOf, senders } from "./ports.ts";
import { watchQueues } from "./queues.ts";
import { watchRoutes } from "./routes.ts";
import { watchSchedules } from "./schedules.ts";
import { Site } from "./site.ts";

const ROUTES = ["senders", "all", "none"] as const;

const watched = new WatchedObjects("application");

/**
 * All that handles and sends messages in an application of NestJS: `flow.attach(nestjsSource(app))`, between
 * `NestFactory.create()` and `listen()`, `init()` or `startAllMicroservices()`: later NestJS has taken up some methods as they are.
 *
 * - Handlers are in the graph before any message, as the container of NestJS knows them: of @nestjs/cqrs with sagas, `@MessagePattern`
 *   and `@EventPattern` with their servers, `@OnEvent`, `@Processor` of @nestjs/bullmq, `@Cron`, `@Interval` and `@Timeout`, and routes
 *   of HTTP, of those controllers that can send. A class that handles one thing goes by its name, else it is `Class.method`.
 * - What a handler sends, directly or after awaits, by buses, emitter, clients and queues, is seen when it does, exactly. Before that
 *   `properties.injected` tells what its class has to send by; there are no links for that, as not every method uses all of it.
 * - Counts are as of the libraries' own adapters. Where one of these counts a system (`amqplib`, `bullmq` …), it does, and this one
 *   only draws handlers. Its channels have the same keys.
 * - A handler with several inputs, of which nobody can tell by which a message came, counts by itself and not on these.
 * - Handlers that NestJS makes anew for each request are measured at their class, as long as one application of the process uses it.
 *   Clients that are injected by `@Client()` are not seen, nor flows of BullMQ.
 *
 * Throws a TypeError where `app` is no application of NestJS, or it or its EventEmitter2 is watched already.
 */
export function nestjsSource(app: NestApplication, options: NestjsMessagingOptions = {}): GraphAdapter {
  checkOptions<NestjsMessagingOptions>("nestjsSource", options, { routes: oneOf("senders", "all", "none") });
  const { routes = "senders" } = options;
  if (!ROUTES.includes(routes)) {
    const message = `nestjsSource.routes must be one of ${ROUTES.join(", ")}, not ${described(routes)}`;
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", message);
  }
  requireVersion({ subpath: "nestjs-messaging", library: "@nestjs/core", versions: "10 to 12" });
  componentsOf(app);
  return {
    name: "nestjs-messaging",
    attach(host: GraphHost): Detach {
      const container = Reflect.get(app, "container") as object;
      watched.enter(container);
      const site = new Site(host);
      const end = () => {
        site.end();
        watched.leave(container);
      };
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
