import { isDeepStrictEqual } from "node:util";
import { create, type DescMethod, type DescService, fromBinary, toBinary } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import type { Caller } from "../../access/caller.ts";
import { ActuatorError } from "../../common/error.ts";
import { ApplicationService } from "../../gen/actuator/v3/application_pb.ts";
import { FleetService } from "../../gen/actuator/v3/fleet_pb.ts";
import { IntegrationGraphService } from "../../gen/actuator/v3/integration_graph_pb.ts";
import { LoggersService } from "../../gen/actuator/v3/loggers_pb.ts";
import { LogsService } from "../../gen/actuator/v3/logs_pb.ts";
import { type OpenResponse, OpenResponseSchema, type StreamsService } from "../../gen/actuator/v3/streams_pb.ts";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import type { RequestContext } from "../gate/request-context.ts";
import { callerOf, requestContextOf } from "./calls/call-context.ts";
import { anyErrorToRpc, callCodeOf, notServed } from "./calls/error.ts";
import { type CarriedMessages, Carrier, type CarrierEvent } from "./carrier.ts";
import type { LocalCalls } from "./local-calls.ts";
import { liveEvents } from "./streams.ts";

/** What the service needs besides the calls that it carries. */
export interface StreamsSettings {
  readonly heartbeatMs: number;
  readonly onError: (error: unknown, context: string) => void;
}

/** The methods that can be carried, by their names: `actuator.v3.LoggersService/WatchLoggers`. */
const CARRIED: ReadonlyMap<string, DescMethod> = new Map(
  ([LoggersService, FleetService, LogsService, IntegrationGraphService, ApplicationService] as DescService[]).flatMap(
    (service) =>
      service.methods
        .filter(({ methodKind }) => methodKind === "server_streaming")
        .map((method) => [`${service.typeName}/${method.name}`, method] as const),
  ),
);

/** A carrier of one caller. */
interface Opened {
  readonly carrier: Carrier;
  readonly context: RequestContext;
}

/** Implements `actuator.v3.StreamsService`: streams of other methods over one call. */
export function streamsService(
  local: Pick<LocalCalls, "stream" | "serves">,
  { heartbeatMs, onError }: StreamsSettings,
): ServiceImpl<typeof StreamsService> {
  const carriers = new Map<string, Opened>();

  /** @throws ActuatorError NOT_FOUND, also for a carrier of another caller, which must not be told that it exists */
  function openedBy(caller: Caller, id: string): Opened {
    const opened = carriers.get(id);
    if (opened === undefined || !isSame(caller, opened.context.caller!)) {
      throw new ActuatorError("NOT_FOUND", "CARRIER_NOT_FOUND", "There is no such carrier of this caller.");
    }
    return opened;
  }

  /** The stream's messages; its record in the call log ends with it. */
  async function* carry(
    method: DescMethod,
    request: object,
    context: RequestContext,
    signal: AbortSignal,
  ): CarriedMessages {
    try {
      for await (const message of local.stream(context, method, request, { signal })) {
        yield toBinary(method.output, message as never);
      }
      context.end("OK");
    } catch (error) {
      if (signal.aborted && error === signal.reason) return;
      context.failed(error instanceof ConnectError ? error.cause : error);
      const failure = anyErrorToRpc(error, (unexpected) => onError(unexpected, context.operation));
      context.end(callCodeOf(failure));
      throw failure;
    } finally {
      context.end("CANCELLED");
    }
  }

  return {
    open(_, { values }) {
      const context = requestContextOf(values);
      const carrier = new Carrier(() => carriers.delete(carrier.id));
      return liveEvents<OpenResponse>(
        {
          open(wake) {
            carriers.set(carrier.id, { carrier, context });
            carrier.open(wake);
          },
          take() {
            const event = carrier.take();
            return event && responseOf(event, heartbeatMs);
          },
          heartbeat: () => create(OpenResponseSchema, { event: { case: "heartbeat", value: {} } }),
          close: () => carrier.close(),
        },
        heartbeatMs,
      );
    },
    start({ carrier: id, stream, method: name, request }, { values }) {
      const { carrier, context } = openedBy(callerOf(values), id);
      const method = CARRIED.get(name);
      if (method === undefined) {
        const message = `${JSON.stringify(name)} cannot be carried; it must be one of ${[...CARRIED.keys()].join(", ")}.`;
        throw new ActuatorError("INVALID_ARGUMENT", "METHOD_NOT_CARRIED", message, { field: "method" });
      }
      if (!local.serves(method.parent)) throw notServed(method.parent);
      const input = requestFrom(method, request);
      carrier.start(stream, (signal) => {
        const further = context.further();
        further.operation = name;
        return carry(method, input, further, signal);
      });
      return {};
    },
    stop({ carrier: id, stream }, { values }) {
      openedBy(callerOf(values), id).carrier.stop(stream);
      return {};
    },
  };
}

function requestFrom(method: DescMethod, bytes: Uint8Array): object {
  try {
    return fromBinary(method.input, bytes);
  } catch {
    const message = `\`request\` is not the binary form of ${method.input.typeName}.`;
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_REQUEST", message, { field: "request" });
  }
}

/** Anonymous callers cannot be told apart but by their address, which is their name. */
function isSame(caller: Caller, opener: Caller): boolean {
  const { name, authentication, permissions, loggers } = opener;
  return (
    caller.name === name &&
    caller.authentication === authentication &&
    // The same name may come with fewer rights, such as those of a narrower JWT.
    isDeepStrictEqual([caller.permissions, caller.loggers], [permissions, loggers])
  );
}

function responseOf(event: CarrierEvent, heartbeatMs: number): OpenResponse {
  if (event.type === "opened") {
    const heartbeatInterval = durationFromMs(heartbeatMs);
    return create(OpenResponseSchema, { event: { case: "carrier", value: event.id }, heartbeatInterval });
  }
  const { stream } = event;
  if (event.type === "message") {
    return create(OpenResponseSchema, { event: { case: "message", value: { stream, message: event.message } } });
  }
  if (event.error === undefined) return create(OpenResponseSchema, { event: { case: "end", value: { stream } } });
  const failure = ConnectError.from(event.error, Code.Internal);
  const [info] = failure.findDetails(ErrorInfoSchema);
  const { code, rawMessage: message } = failure;
  const { reason = "", metadata = {} } = info ?? {};
  const value = { stream, code, message, reason, metadata };
  return create(OpenResponseSchema, { event: { case: "end", value } });
}
