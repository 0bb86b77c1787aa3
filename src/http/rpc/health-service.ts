import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import {
  type HealthCheckResponse,
  HealthCheckResponseSchema,
  HealthListResponseSchema,
  type Health as HealthService,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../gen/grpc/health/v1/health_pb.ts";
import type { Health, HealthReport } from "../../operations/health/health.ts";
import type { HealthStatus } from "../../operations/health/health-status.ts";
import { states } from "./streams.ts";

const SERVICE_UNKNOWN = create(HealthCheckResponseSchema, { status: ServingStatus.SERVICE_UNKNOWN });

const RESPONSES: Readonly<Record<HealthStatus, HealthCheckResponse>> = {
  UP: create(HealthCheckResponseSchema, { status: ServingStatus.SERVING }),
  DOWN: create(HealthCheckResponseSchema, { status: ServingStatus.NOT_SERVING }),
  OUT_OF_SERVICE: create(HealthCheckResponseSchema, { status: ServingStatus.NOT_SERVING }),
  UNKNOWN: create(HealthCheckResponseSchema, { status: ServingStatus.UNKNOWN }),
};

/**
 * Implements `grpc.health.v1.Health` with the health of the process, which is that of all its services.
 *
 * @param services full names of the known services; the empty name, the whole server, is always known
 * @see https://github.com/grpc/grpc/blob/master/doc/health-checking.md
 */
export function healthService(health: Health, services: readonly string[]): ServiceImpl<typeof HealthService> {
  const known = new Set(["", ...services]);

  return {
    check({ service }) {
      if (!known.has(service)) throw new ConnectError("The service is unknown.", Code.NotFound);
      return afterCheck(({ status }) => RESPONSES[status]);
    },

    list() {
      return afterCheck(({ status }) => {
        const statuses = Object.fromEntries([...known].map((service) => [service, RESPONSES[status]]));
        return create(HealthListResponseSchema, { statuses });
      });
    },

    watch({ service }) {
      // The stream of an unknown service stays open, because the interface says that it may become known.
      const read = known.has(service) ? () => RESPONSES[health.status] : () => SERVICE_UNKNOWN;
      const answers = states(read, (listener) => health.onChange(listener));
      const next = () => answers.next();
      // The first answer waits for the checks, so that it is current.
      let first: Promise<unknown> | undefined;
      return {
        ...answers,
        next: () => (first === undefined ? (first = Promise.resolve(health.check())).then(next) : next()),
      };
    },
  };

  function afterCheck<T>(answer: (report: HealthReport) => T): T | Promise<T> {
    const report = health.check();
    return report instanceof Promise ? report.then(answer) : answer(report);
  }
}
