import type { Command } from "commander";
import { EXIT } from "./error.ts";
import { examples, invocationOf } from "./options.ts";
import { print, styled } from "./output.ts";

/** Adds `health`, whose exit code serves the health checks of containers. */
export function addHealthCommand(program: Command): void {
  program
    .command("health")
    .description("say whether the application is serving; the exit code is 1 if it is not")
    .argument("[service]", "full name of one service; otherwise the process as a whole")
    .addHelpText(
      "after",
      examples(
        ["health", "the process as a whole"],
        ["health actuator.v3.LoggersService --timeout 1s", "one service, with a short timeout"],
      ),
    )
    .action(async (service: string | undefined, _, command: Command) => {
      const { connection, options } = await invocationOf(command);
      const health = await import("../gen/grpc/health/v1/health_pb.ts");
      const { printJson } = await import("./connection.ts");
      const response = await connection(health.Health).check({ service: service ?? "" });
      const serving = response.status === health.HealthCheckResponse_ServingStatus.SERVING;
      if (options.json) printJson(health.HealthCheckResponseSchema, response);
      else {
        const status = health.HealthCheckResponse_ServingStatusSchema.value[response.status]?.name ?? "UNKNOWN";
        print(styled(serving ? "green" : "red", status));
      }
      process.exitCode = serving ? EXIT.ok : EXIT.refused;
    });
}
