import {
  HealthCheckResponseSchema,
  Health as HealthService,
  HealthCheckResponse_ServingStatus as ServingStatus,
  HealthCheckResponse_ServingStatusSchema as ServingStatusSchema,
} from "../gen/grpc/health/v1/health_pb.ts";
import type { Connection } from "./connection.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { print, printJson, styled } from "./output.ts";

/** `health`: whether the process, or one service, is serving. The exit code says it too, for health checks of containers. */
export async function checkHealth(
  connection: Connection,
  service: string,
  { json = false }: { readonly json?: boolean },
): Promise<ExitCode> {
  const response = await connection(HealthService).check({ service });
  const serving = response.status === ServingStatus.SERVING;
  if (json) printJson(HealthCheckResponseSchema, response);
  else print(styled(serving ? "green" : "red", ServingStatusSchema.value[response.status]?.name ?? "UNKNOWN"));
  return serving ? EXIT.ok : EXIT.refused;
}
