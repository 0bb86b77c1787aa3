import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import type { Health } from "../application/health.ts";
import {
  HealthCheckResponseSchema,
  HealthListResponseSchema,
  type Health as HealthService,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../gen/grpc/health/v1/health_pb.ts";
import { states } from "./states.ts";

const SERVING = create(HealthCheckResponseSchema, { status: ServingStatus.SERVING });
const NOT_SERVING = create(HealthCheckResponseSchema, { status: ServingStatus.NOT_SERVING });
const SERVICE_UNKNOWN = create(HealthCheckResponseSchema, { status: ServingStatus.SERVICE_UNKNOWN });

/**
 * `grpc.health.v1.Health` over the health of the process.
 *
 * @param services full names of the services that are asked for; the empty name, the server as a whole, is always known
 * @see https://github.com/grpc/grpc/blob/master/doc/health-checking.md
 */
export function healthService(health: Health, services: readonly string[]): ServiceImpl<typeof HealthService> {
  const known = new Set(["", ...services]);
  const status = () => (health.status === "UP" ? SERVING : NOT_SERVING);

  return {
    check({ service }) {
      if (!known.has(service)) throw new ConnectError("This service is not served.", Code.NotFound);
      return status();
    },

    list() {
      const statuses = Object.fromEntries([...known].map((service) => [service, status()]));
      return create(HealthListResponseSchema, { statuses });
    },

    watch({ service }) {
      // An unknown service may become known, says the interface: its stream stays open.
      const read = known.has(service) ? status : () => SERVICE_UNKNOWN;
      return states(read, (listener) => health.onChange(listener));
    },
  };
}
