import { requirement } from "../support/requirement.ts";
import { built } from "./build.ts";
import { clientTests } from "./suite.ts";
import { jdk, maven } from "./tools.ts";

clientTests({
  name: "grpc-java",
  runs: [
    requirement("Maven 3.6 or later", maven !== undefined),
    requirement("a JDK from 17 on", jdk !== undefined),
  ].every(Boolean),
  async build() {
    const steps = [["mvn", "-q", "-B", "package"]] as const;
    const cwd = await built({ example: "java", tools: [maven!, jdk!], steps });
    return { cwd, command: "java", args: ["-jar", "target/actuator-client.jar"] };
  },
});
