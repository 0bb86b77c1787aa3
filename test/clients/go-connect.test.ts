import { join } from "node:path";
import { requirement } from "../support/requirement.ts";
import { built } from "./build.ts";
import { clientTests } from "./suite.ts";
import { go } from "./tools.ts";

clientTests({
  name: "connect-go",
  runs: requirement("go 1.21 or later", go !== undefined),
  async build() {
    const steps = [
      ["buf", "generate"],
      ["go", "vet", "."],
      ["go", "build", "-o", "actuator-client", "."],
    ] as const;
    const cwd = await built({ example: "go-connect", tools: [go!], steps });
    return { cwd, command: join(cwd, "actuator-client"), args: [] };
  },
  ways: {
    Connect: { ACTUATOR_PROTOCOL: "connect" },
    gRPC: { ACTUATOR_PROTOCOL: "grpc" },
    "gRPC-Web": { ACTUATOR_PROTOCOL: "grpcweb" },
  },
});
