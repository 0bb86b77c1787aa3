import { requirement } from "../support/requirement.ts";
import { built } from "./build.ts";
import { clientTests } from "./suite.ts";
import { go, jq } from "./tools.ts";

const grpcurl = "github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.4";

clientTests({
  name: "grpcurl",
  runs: [requirement("go 1.21 or later", go !== undefined), requirement("jq", jq !== undefined)].every(Boolean),
  async build() {
    const steps = [["sh", "-c", `GOBIN="$PWD/bin" go install ${grpcurl}`]] as const;
    const cwd = await built({ example: "grpcurl", tools: [go!, jq!], steps });
    return { cwd, command: "sh", args: ["-c", 'PATH="$PWD/bin:$PATH" exec ./client.sh "$@"', "client.sh"] };
  },
  ways: {
    "by reflection": { ACTUATOR_SCHEMA: "reflection" },
    "by the files of the schema": { ACTUATOR_SCHEMA: "proto" },
  },
});
