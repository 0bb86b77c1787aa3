import { describe, expect, onTestFinished, test } from "vitest";
import { Metrics } from "../../../src/operations/metrics/metrics.ts";
import { COMMON_HEADERS } from "../../support/openapi-contract.ts";
import { type RestApplication, restApplication } from "../../support/rest-application.ts";
import type { RestRequest, RestResponse } from "../../support/rest-client.ts";
import { REST_HOSTS } from "../../support/rest-hosts.ts";
import { recordedApplication } from "./recorded-application.ts";
import { RECORDED } from "./recorded-exchange.ts";

const FIXED: readonly (readonly [request: RestRequest, status: number, cacheControl: string])[] = [
  [{ path: "/actuator" }, 200, "no-cache"],
  [{ path: "/actuator/health" }, 200, "no-cache"],
  [{ path: "/actuator/info" }, 200, "no-cache"],
  [{ path: "/actuator/loggers" }, 200, "no-cache"],
  [{ path: "/actuator/loggers/ROOT" }, 200, "no-cache"],
  [{ path: "/actuator/loggers/nope" }, 404, "no-cache"],
  [{ path: "/actuator/loggers/a", method: "POST", headers: { "Content-Type": "application/json" } }, 204, "no-cache"],
  [{ path: "/actuator/loggers/a", method: "POST" }, 415, "no-cache"],
  [{ path: "/actuator/loggers", method: "OPTIONS" }, 200, "no-cache"],
  [{ path: "/actuator/integrationgraph" }, 200, "no-cache"],
  [{ path: "/actuator/nope" }, 404, "no-cache"],
  [{ path: "/actuator#" }, 400, "no-cache"],
  [{ path: "/actuator/sessions?username=alice" }, 200, "no-store"],
  [{ path: "/actuator/sessions?username=alice", method: "HEAD" }, 200, "no-store"],
  [{ path: "/actuator/sessions" }, 400, "no-store"],
  [{ path: "/actuator/sessions/s1" }, 200, "no-store"],
  [{ path: "/actuator/sessions/nope" }, 404, "no-store"],
  [{ path: "/actuator/sessions/%ff" }, 400, "no-store"],
  [{ path: "/actuator/sessions/s1", headers: { Accept: "text/plain" } }, 406, "no-store"],
  [{ path: "/actuator/sessions/s1", method: "PUT" }, 405, "no-store"],
  [{ path: "/actuator/sessions/s1", method: "OPTIONS" }, 200, "no-store"],
  [{ path: "/actuator/sessions/s1", method: "DELETE" }, 204, "no-store"],
];

const LARGE = { path: "/actuator/loggers", headers: { "Accept-Encoding": "gzip" } };
const FURTHER: readonly RestRequest[] = [
  LARGE,
  { ...LARGE, method: "HEAD" },
  { ...LARGE, headers: { ...LARGE.headers, "If-None-Match": "*" } },
  { path: "/actuator/openapi.json" },
  { path: "/actuator/openapi.json", headers: { "If-None-Match": "*" } },
  { path: "/actuator/prometheus" },
  { path: "/actuator/prometheus", headers: { Accept: "image/png" } },
];

interface Exchange {
  readonly application: RestApplication;
  readonly request: RestRequest;
  readonly answer: RestResponse;
}

async function exchanges(
  application: RestApplication,
  requests: readonly RestRequest[],
  protocol = "node:http",
): Promise<readonly Exchange[]> {
  const { client, close } = await REST_HOSTS[protocol]!(application.gateway);
  onTestFinished(close);
  const found: Exchange[] = [];
  for (const request of requests) found.push({ application, request, answer: await client(request) });
  return found;
}

/** The answers to every request that was sent to the original, and to further ones, in both versions of HTTP. */
async function allExchanges(): Promise<readonly Exchange[]> {
  const recorded = RECORDED.map(({ request }) => request);
  const all = ["node:http", "node:http2"].flatMap((protocol) => [
    exchanges(recordedApplication(), recorded, protocol),
    exchanges(restApplication({ endpoints: { metrics: new Metrics({ operations: [] }) } }), FURTHER, protocol),
  ]);
  return (await Promise.all(all)).flat();
}

/** All other tests leave these headers out, so that a wrong one fails one test, which names it. */
describe("of every answer", () => {
  test.each(COMMON_HEADERS)("%s is as the OpenAPI document says", async (name) => {
    const faults = (await allExchanges()).flatMap(({ application, request, answer }) =>
      application.contract
        .commonHeaderFaults(name, request, answer)
        .map((fault) => `${request.method ?? "GET"} ${request.path} answered ${answer.status}: ${fault}`),
    );
    if (name === "Cache-Control" || name === "Vary") faults.push(...(await differences(name)));
    expect(faults).toEqual([]);
  });

  test("no header is missing in the OpenAPI document", async () => {
    const unknown = (await allExchanges()).flatMap(({ application, request, answer }) =>
      application.contract
        .unknownHeaders(request, answer)
        .map((name) => `${request.method ?? "GET"} ${request.path} answered ${answer.status}: ${name}`),
    );
    expect(unknown).toEqual([]);
  });
});

/** How the header differs from the exact values of {@link FIXED}. */
async function differences(name: "Cache-Control" | "Vary"): Promise<string[]> {
  const application = restApplication();
  application.store.put({ id: "s1", username: "alice" });
  const answers = await exchanges(
    application,
    FIXED.map(([request]) => request),
  );
  return answers.flatMap(({ request, answer }, at) => {
    const [, status, cacheControl] = FIXED[at]!;
    const expected = name === "Vary" ? "Accept" : cacheControl;
    const value = answer.headers[name.toLowerCase()];
    return answer.status === status && value === expected
      ? []
      : [`${request.method ?? "GET"} ${request.path} answered ${answer.status} with ${name}: ${value}`];
  });
}
