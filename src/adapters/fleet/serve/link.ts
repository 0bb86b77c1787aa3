import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Client } from "@connectrpc/connect";
import type { FleetEngineService } from "../../../gen/actuator/v3/fleet_engine_pb.ts";
import { endWith, type LinkUse, noAnswer } from "../../kit/fleet/connection.ts";
import type { ServeFleetOptions } from "./options.ts";

/** Connections to the process that keeps the fleet. */
export interface ServeLink {
  readonly client: Client<typeof FleetEngineService>;
}

/** Opens connections, and watches the hints of a fleet over one of them. */
export async function serveLink(
  fleet: string,
  { url, token, ca }: ServeFleetOptions,
  { onHint, onLost, signal }: LinkUse,
): Promise<ServeLink> {
  const [{ durationMs }, { createClient }, { authoritiesWith, clientTransport }, { FleetEngineService }] =
    await Promise.all([
      import("@bufbuild/protobuf/wkt"),
      import("@connectrpc/connect"),
      import("../../../peers/client-transport.ts"),
      import("../../../gen/actuator/v3/fleet_engine_pb.ts"),
    ]);
  const agent = agentFor(url, ca === undefined ? undefined : authoritiesWith(ca));
  endWith(signal, () => agent.destroy());
  const client = createClient(FleetEngineService, clientTransport({ url, token, agent }));
  const hints = client.watchHints({ fleet }, { signal })[Symbol.asyncIterator]();
  // The first event says that later hints arrive, and how long the stream is silent at most.
  const { event: first } = await next(hints);
  const interval = first.case === "heartbeat" ? first.value.interval : undefined;
  const silenceMs = MISSED * (interval === undefined ? USUAL_MS : durationMs(interval));
  void follow();
  return { client };

  async function follow(): Promise<void> {
    const silence = setTimeout(() => onLost(noAnswer()), silenceMs).unref();
    endWith(signal, () => clearTimeout(silence));
    try {
      for (;;) {
        const { event } = await next(hints);
        silence.refresh();
        if (event.case === "hint") onHint(event.value === "" ? undefined : event.value);
      }
    } catch (error) {
      clearTimeout(silence);
      onLost(error as Error);
    }
  }
}

/** How many heartbeats may be missing before the stream counts as dead. */
const MISSED = 3;
const USUAL_MS = 15_000;

async function next<T>(events: AsyncIterator<T>): Promise<T> {
  const { done, value } = await events.next();
  if (done) throw new Error("The server has ended the stream of hints.");
  return value;
}

/** An agent whose connections do not keep the process alive. */
function agentFor(url: string, ca: string[] | undefined): HttpAgent {
  const isSecure = url.startsWith("https:");
  const agent = isSecure ? new HttpsAgent({ keepAlive: true, ...(ca && { ca }) }) : new HttpAgent({ keepAlive: true });
  const { createConnection } = agent;
  agent.createConnection = (options, done) => {
    const socket = createConnection.call(agent, options, done);
    (socket as { unref?(): void } | undefined)?.unref?.();
    return socket;
  };
  return agent;
}
