// @module-tag slow
import { requirement } from "../support/requirement.ts";
import { built } from "./build.ts";
import { clientTests } from "./suite.ts";
import { go } from "./tools.ts";

clientTests({
  name: "grpc-go",
  runs: requirement("go 1.21 or later", go !== undefined),
  build: () => built("go-grpc", [go!]),
});
