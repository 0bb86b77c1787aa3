import type { Level } from "../../../src/loggers/level.ts";
import { type RestApplication, restApplication } from "../../support/rest-application.ts";
import { recordedText } from "./recorded-exchange.ts";

type LoggersRecord = Record<string, { readonly configuredLevel?: Level; readonly effectiveLevel: Level }>;

/** Milliseconds since the epoch at which the original's sessions were asked for. */
const NOW = Date.parse("2026-11-21T06:14:04.950Z");

/** An application as the original's was when the recording began. */
export function recordedApplication(): RestApplication {
  const overview = JSON.parse(recordedText("loggers-446"));
  const groups = overview.groups as Record<string, { readonly members: string[] }>;
  const application = restApplication({
    loggers: { groups: Object.fromEntries(Object.entries(groups).map(([name, { members }]) => [name, members])) },
    clock: () => NOW,
  });
  const { loggers, store, graph } = application;
  for (const [name, { configuredLevel }] of Object.entries(overview.loggers as LoggersRecord)) {
    if (/^(?:org|io|com|_org|demo)\b[^/]*$/.test(name)) loggers.setLevel(name, configuredLevel);
  }
  loggers.setLevel("test", "INFO");
  loggers.setLevel("com.example", "DEBUG");

  const sessions = [
    ...JSON.parse(recordedText("sessions-450")).sessions.map((session: object) => ({ ...session, username: "alice" })),
    ...JSON.parse(recordedText("sessions-459")).sessions.map((session: object) => ({ ...session, username: "bob" })),
    JSON.parse(recordedText("sessions-464")),
  ];
  for (const session of sessions) {
    const times = {
      creationTime: Date.parse(session.creationTime),
      lastAccessedTime: Date.parse(session.lastAccessedTime),
    };
    store.put({ ...session, ...times });
  }

  graph.nullChannel();
  graph.publishSubscribeChannel("errorChannel");
  graph.outboundChannelAdapter("errorLogger", { input: "errorChannel", componentType: "logging-channel-adapter" });
  return application;
}
