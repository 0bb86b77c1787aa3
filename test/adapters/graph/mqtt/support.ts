import { connectAsync, type IClientOptions, type MqttClient } from "mqtt";
import { onTestFinished } from "vitest";
import { type MqttAdapter, type MqttOptions, mqttSource } from "../../../../src/adapters/graph/mqtt/index.ts";
import { type GraphBuilder, integrationGraph } from "../../../../src/integration-graph/builder.ts";
import type { MosquittoServer } from "../../../support/mosquitto-server.ts";
import { picture } from "../nats/support.ts";

export { nodeOf, picture, until } from "../nats/support.ts";

export async function client(server: MosquittoServer, options: IClientOptions = {}): Promise<MqttClient> {
  const connected = await connectAsync(server.url, { reconnectPeriod: 50, ...options });
  connected.on("error", () => {});
  onTestFinished(() => connected.endAsync(true).catch(() => {}));
  return connected;
}

export interface Application {
  readonly own: MqttClient;
  readonly flow: GraphBuilder;
  readonly adapter: MqttAdapter;
  readonly detach: () => void;
  picture(): ReturnType<typeof picture>;
}

/** An application with one client, and its graph. */
export async function application(
  server: MosquittoServer,
  {
    client: clientOptions,
    app = "shop",
    ...options
  }: MqttOptions & { readonly client?: IClientOptions; readonly app?: string } = {},
): Promise<Application> {
  const own = await client(server, clientOptions);
  const flow = integrationGraph({ app });
  const adapter = mqttSource(own, options);
  const detach = flow.attach(adapter);
  return { own, flow, adapter, detach, picture: () => picture(flow.graph.snapshot()) };
}
