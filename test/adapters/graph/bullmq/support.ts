import { type ConnectionOptions, FlowProducer, Queue, QueueEvents, Worker } from "bullmq";
import { onTestFinished } from "vitest";
import { type BullmqOptions, bullmqSource } from "../../../../src/adapters/graph/bullmq/index.ts";
import { integrationGraph } from "../../../../src/integration-graph/builder.ts";
import { graphPictures } from "../../../support/graph-picture.ts";
import type { RedisServer } from "../../../support/redis-server.ts";

export { until } from "../../../support/until.ts";

let databases = 0;

/** An application with a database of its own: what it makes is watched, and closed with the test. */
export function application(
  server: RedisServer,
  {
    app = "shop",
    db = ++databases,
    attach = true,
    ...options
  }: BullmqOptions & { readonly app?: string; readonly db?: number; readonly attach?: boolean } = {},
) {
  const connection: ConnectionOptions = { host: server.host, port: server.port, db };
  const flow = integrationGraph({ app, onSourceError: () => {} });
  const jobs = bullmqSource([], options);
  const detach = attach ? flow.attach(jobs) : () => {};
  const { graph } = flow;

  function closing<T extends { close(): Promise<unknown>; on(event: "error", listener: () => void): unknown }>(
    made: T,
  ): T {
    made.on("error", () => {});
    onTestFinished(() =>
      made.close().then(
        () => {},
        () => {},
      ),
    );
    return made;
  }
  return {
    db,
    connection,
    flow,
    graph,
    jobs,
    detach,
    picture: () => picture(graph.snapshot()),
    node: (label: string) => nodeOf(graph, label),
    queue: (name: string, more = {}) => jobs.watch(closing(new Queue(name, { connection, ...more }))),
    worker: (name: string, processor: ConstructorParameters<typeof Worker>[1], more = {}) =>
      jobs.watch(closing(new Worker(name, processor, { connection, drainDelay: 0.1, ...more }))),
    flowProducer: (more = {}) => jobs.watch(closing(new FlowProducer({ connection, ...more }))),
    queueEvents: (name: string) => jobs.watch(closing(new QueueEvents(name, { connection }))),
    closing,
  };
}

export const { picture, nodeOf } = graphPictures({
  label: ({ componentType, name }) => `${componentType.replace(/^(bullmq|redis):/, "")} ${name}`,
});
