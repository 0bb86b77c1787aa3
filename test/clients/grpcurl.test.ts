// @module-tag slow
import { requirement } from "../support/requirement.ts";
import { built } from "./build.ts";
import { clientTests } from "./suite.ts";
import { go, jq } from "./tools.ts";

const needs = [requirement("go 1.21 or later", go !== undefined), requirement("jq", jq !== undefined)];

clientTests({
  name: "grpcurl",
  runs: needs.every(Boolean),
  build: () => built("grpcurl", [go!, jq!]),
  ways: {
    "by reflection": { ACTUATOR_SCHEMA: "reflection" },
    "by the files of the schema": { ACTUATOR_SCHEMA: "proto" },
  },
});
