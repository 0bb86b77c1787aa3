import { join } from "node:path";
import { requirement } from "../support/requirement.ts";
import { built } from "./build.ts";
import { clientTests } from "./suite.ts";
import { go } from "./tools.ts";

clientTests({
  name: "grpc-go",
  runs: requirement("go 1.21 or later", go !== undefined),
  async build() {
    const steps = [
      ["buf", "generate"],
      ["go", "vet", "."],
      ["go", "build", "-o", "actuator-client", "."],
    ] as const;
    const cwd = await built({ example: "go-grpc", tools: [go!], steps });
    return { cwd, command: join(cwd, "actuator-client"), args: [] };
  },
});
