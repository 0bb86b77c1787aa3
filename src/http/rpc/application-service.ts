import { hostname } from "node:os";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { Caller } from "../../access/caller.ts";
import { PERMISSIONS, type Permission } from "../../access/permission.ts";
import {
  type ActivitySampleSchema,
  type ApplicationService,
  GetApplicationResponseSchema,
  type HealthComponentSchema,
  type WatchActivityResponse,
  WatchActivityResponseSchema,
} from "../../gen/actuator/v3/application_pb.ts";
import {
  Activity,
  type ActivityNumbers,
  type ActivityState,
  type ActivityWatcher,
  SAMPLE_MS,
} from "../../operations/activity/activity.ts";
import type { ComponentHealth } from "../../operations/health/health-status.ts";
import type { Sessions } from "../../sessions/sessions.ts";
import type { Endpoints } from "../endpoints.ts";
import { callerOf } from "./calls/call-context.ts";
import { liveEvents } from "./streams.ts";

/** What the service needs to know besides what is served. */
export interface ApplicationSettings {
  /** The names of the services of the domains that are served. */
  readonly services: readonly string[];
  readonly readOnly: boolean;
  readonly heartbeatMs: number;
  readonly onError: (error: unknown, context: string) => void;
}

/** Implements `actuator.v3.ApplicationService`. */
export function applicationService(
  endpoints: Endpoints,
  { services, readOnly, heartbeatMs, onError }: ApplicationSettings,
): ServiceImpl<typeof ApplicationService> {
  const { application, health, sessions, integrationGraph } = endpoints;
  const activity = new Activity({ health, graph: integrationGraph, sessions, onError });

  return {
    getApplication(_, { values }) {
      const { name = "", version = "", startTime } = application;
      const caller = callerOf(values);
      const seesSessions = PERMISSIONS.some((each) => each.startsWith("sessions:") && caller.permissions.has(each));
      return create(GetApplicationResponseSchema, {
        name,
        version,
        instance: hostname(),
        nodeVersion: process.versions.node,
        startTime: timestampFromMs(startTime),
        services: [...services],
        readOnly,
        caller: {
          name: caller.name,
          authentication: caller.authentication,
          permissions: PERMISSIONS.filter((each) => caller.permissions.has(each)),
          loggers: [...(caller.loggers ?? [])],
        },
        ...(sessions && seesSessions && { sessionStore: storeToProto(sessions) }),
      });
    },

    watchActivity: (_, context) => watchActivity(activity, health.hasChecks, context, heartbeatMs),
  };
}

function watchActivity(
  activity: Activity,
  hasChecks: boolean,
  { values }: Pick<HandlerContext, "values">,
  heartbeatMs: number,
): AsyncIterableIterator<WatchActivityResponse, undefined> {
  const view = viewOf(callerOf(values), hasChecks);
  let watcher: ActivityWatcher;
  let version = 0;
  let sequence = 0;

  return liveEvents(
    {
      open(wake) {
        watcher = activity.watch(wake);
      },
      take() {
        const { state } = watcher;
        if (state === undefined || state.version === version) return undefined;
        version = state.version;
        const response = view(state, sequence);
        sequence = state.samples.at(-1)?.sequence ?? 0;
        return response;
      },
      heartbeat: () =>
        watcher.state === undefined ? create(WatchActivityResponseSchema) : view(watcher.state, sequence),
      close: () => watcher.close(),
    },
    heartbeatMs,
  );
}

/** What a caller sees of a state, with the samples after the one with `sequence`. */
function viewOf({ permissions }: Caller, hasChecks: boolean) {
  const [health, graph, sessions] = (["info:read", "graph:read", "sessions:list"] satisfies Permission[]).map((each) =>
    permissions.has(each as Permission),
  );
  const sampleInterval = durationFromMs(SAMPLE_MS);
  const sampleOf = ({ time, ...numbers }: ActivityNumbers): MessageInitShape<typeof ActivitySampleSchema> => ({
    time: timestampFromMs(time),
    ...(graph && numbers.messages !== undefined && { messagesPerMinute: numbers.messages }),
    ...(graph && numbers.failingNodes !== undefined && { failingNodes: numbers.failingNodes }),
    ...(sessions && numbers.sessions !== undefined && { sessions: BigInt(numbers.sessions) }),
  });
  return (state: ActivityState, sequence: number): WatchActivityResponse =>
    create(WatchActivityResponseSchema, {
      samples: state.samples.filter((sample) => sample.sequence > sequence).map(sampleOf),
      sampleInterval,
      now: sampleOf(state.now),
      health: {
        status: state.health.status,
        components: health && hasChecks ? componentsToProto(state) : [],
      },
      ...(graph && {
        nodes: state.nodes,
        failingNodes: state.failingNodes.map(({ pattern, failures, messages, since, history, ...node }) => ({
          ...node,
          integrationPatternType: pattern,
          failures: BigInt(failures),
          messages: BigInt(messages),
          sinceTime: timestampFromMs(since),
          history: [...history],
        })),
      }),
    });
}

function componentsToProto({ health, checkTimes }: ActivityState): MessageInitShape<typeof HealthComponentSchema>[] {
  return Array.from(health.components, ([name, component]) => {
    const times = checkTimes.get(name);
    return {
      name,
      status: component.status,
      detail: detailOf(component),
      ...(times && { sinceTime: timestampFromMs(times.since), duration: durationFromMs(times.durationMs) }),
    };
  });
}

function detailOf({ error, code, warnings = [] }: ComponentHealth): string {
  if (error === undefined) return warnings.join(" ");
  if (error === "Timeout") return "no answer in time";
  return code === undefined ? error : `${error}: ${code}`;
}

function storeToProto({ kind, limits, showsRawIds }: Sessions) {
  // The names of fields are not those of TypeScript.
  const named = Object.entries(limits).map(([operation, why]) => [
    operation.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    why,
  ]);
  return { kind, rawIds: showsRawIds, limits: Object.fromEntries(named) as Record<string, string> };
}
