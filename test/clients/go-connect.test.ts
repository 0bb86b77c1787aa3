// @module-tag slow
import { requirement } from "../support/requirement.ts";
import { built } from "./build.ts";
import { clientTests } from "./suite.ts";
import { go } from "./tools.ts";

clientTests({
  name: "connect-go",
  runs: requirement("go 1.21 or later", go !== undefined),
  build: () => built("go-connect", [go!]),
  ways: {
    Connect: { ACTUATOR_PROTOCOL: "connect" },
    gRPC: { ACTUATOR_PROTOCOL: "grpc" },
    "gRPC-Web": { ACTUATOR_PROTOCOL: "grpcweb" },
  },
});
