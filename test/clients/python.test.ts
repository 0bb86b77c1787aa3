import { requirement } from "../support/requirement.ts";
import { built } from "./build.ts";
import { clientTests } from "./suite.ts";
import { python } from "./tools.ts";

clientTests({
  name: "grpcio, in Python",
  runs: requirement("python3 with venv", python !== undefined),
  build: () => built("python", [python!]),
});
