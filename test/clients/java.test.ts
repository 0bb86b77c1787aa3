// @module-tag slow
import { requirement } from "../support/requirement.ts";
import { built } from "./build.ts";
import { clientTests } from "./suite.ts";
import { jdk, maven } from "./tools.ts";

const needs = [
  requirement("Maven 3.6 or later", maven !== undefined),
  requirement("a JDK from 17 on", jdk !== undefined),
];

clientTests({
  name: "grpc-java",
  runs: needs.every(Boolean),
  build: () => built("java", [maven!, jdk!]),
});
