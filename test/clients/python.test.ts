import { join } from "node:path";
import { requirement } from "../support/requirement.ts";
import { built } from "./build.ts";
import { clientTests } from "./suite.ts";
import { python } from "./tools.ts";

const protoc = ["-m", "grpc_tools.protoc", "-I", "../../proto"] as const;
const outputs = ["--python_out=.", "--pyi_out=.", "--grpc_python_out=."] as const;
const protos = ["level", "loggers", "sessions", "integration_graph"].map(
  (name) => `../../proto/actuator/v3/${name}.proto`,
);

clientTests({
  name: "grpcio, in Python",
  runs: requirement("python3 with venv", python !== undefined),
  async build() {
    const cwd = await built({
      example: "python",
      tools: [python!],
      steps: [
        ["python3", "-m", "venv", ".venv"],
        [".venv/bin/pip", "install", "-q", "-r", "requirements.txt"],
        [".venv/bin/python", ...protoc, ...outputs, ...protos],
      ],
    });
    return { cwd, command: join(cwd, ".venv/bin/python"), args: ["client.py"] };
  },
});
