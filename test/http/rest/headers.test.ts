import { beforeAll, describe, expect, test } from "vitest";
import { Metrics } from "../../../src/operations/metrics/metrics.ts";
import { COMMON_HEADERS, type OpenApiContract } from "../../support/openapi-contract.ts";
import { type RestApplication, restApplication } from "../../support/rest-application.ts";
import type { RestClient, RestRequest, RestResponse } from "../../support/rest-client.ts";
import { REST_HOSTS } from "../../support/rest-hosts.ts";
import { LOW_LIMITS, OPEN, REPEATED, SECURED, serveSecured } from "../openapi/secured-application.ts";
import { KNOWN_ANSWERS } from "./answers.ts";
import { recordedApplication } from "./recorded-application.ts";
import { RECORDED } from "./recorded-exchange.ts";

/** A header's name, and the value that one answer must have. */
type Exact = Readonly<Record<string, string>>;

interface Exchange {
  /** The host, or the kind of access control. */
  readonly place: string;
  readonly contract: OpenApiContract;
  readonly request: RestRequest;
  readonly answer: RestResponse;
  /** Beyond what the contract says. */
  readonly exact: Exact;
}

const LARGE: RestRequest = { path: "/actuator/loggers", headers: { "Accept-Encoding": "gzip" } };
const FURTHER: readonly RestRequest[] = [
  LARGE,
  { ...LARGE, method: "HEAD" },
  { ...LARGE, headers: { ...LARGE.headers, "If-None-Match": "*" } },
  { path: "/actuator/openapi.json" },
  { path: "/actuator/openapi.json", headers: { "If-None-Match": "*" } },
];

/** Paths that do not reach the gateway: the framework's router refuses them, or they are the application's. */
const ANSWERED_BY_FRAMEWORK: Readonly<Record<string, readonly string[]>> = {
  "Express 5": ["/actuator#"],
  "Fastify 5": ["/actuator#", "/actuator/loggers/%", "/actuator/loggers/%ff", "/actuator/sessions/%ff"],
};

const exchanges: Exchange[] = [];

/** Sends a request, and keeps the exchange. */
async function exchange(
  place: string,
  contract: OpenApiContract,
  client: RestClient,
  request: RestRequest,
  exact: Exact = {},
): Promise<void> {
  const answer = await client(request);
  exchanges.push({ place, contract, request, answer, exact });
}

/** In every host: all that the original was asked, the known answers, and large ones. */
async function exchangeInHost(host: string): Promise<void> {
  const served = async (application: RestApplication, requests: readonly (readonly [RestRequest, Exact?])[]) => {
    const { client, close } = await REST_HOSTS[host]!(application.gateway);
    for (const [request, exact] of requests) {
      if (ANSWERED_BY_FRAMEWORK[host]?.includes(request.path)) continue;
      await exchange(host, application.contract, client, request, exact);
    }
    close();
  };
  await served(
    recordedApplication(),
    RECORDED.map(({ request }) => [request]),
  );
  const small = restApplication({ endpoints: { metrics: new Metrics({ operations: [] }) } });
  small.store.put({ id: "s1", username: "alice" });
  await served(
    small,
    KNOWN_ANSWERS.map(({ request, cacheControl }) => [
      request,
      { "Cache-Control": cacheControl, Vary: "Accept", "X-Content-Type-Options": "nosniff" },
    ]),
  );
  const large = restApplication();
  for (let index = 0; index < 30; index++) large.loggers.setLevel(`shop.component${index}`, "WARN");
  await served(
    large,
    FURTHER.map((request) => [request]),
  );
}

/** What is refused with 401, 403 and 429, and the rest of what access control and CORS answer. */
async function exchangeWithAccess(): Promise<void> {
  const served = async (
    place: string,
    [options, limits]: Parameters<typeof serveSecured>,
    requests: readonly RestRequest[],
  ) => {
    const { contract, client, close } = await serveSecured(options, limits);
    for (const request of requests) {
      const isSession = request.path.startsWith("/actuator/sessions");
      await exchange(place, contract, client, request, { "Cache-Control": isSession ? "no-store" : "no-cache" });
    }
    await close();
  };
  await served(
    "with access control",
    [],
    SECURED.map(([, request]) => request),
  );
  for (const [what, request] of REPEATED) await served(`after too many ${what}`, [{}, LOW_LIMITS], [request, request]);
  for (const [caller, request, , options] of OPEN) {
    await served(`without access control, ${caller}`, [{ access: undefined, ...options }], [request]);
  }
}

beforeAll(async () => {
  for (const host of Object.keys(REST_HOSTS)) await exchangeInHost(host);
  await exchangeWithAccess();
}, 60_000);

/** Of each place the first faults, and the number of the others. */
function faultsByPlace(faultsOf: (exchange: Exchange) => readonly string[]): Record<string, readonly string[]> {
  const faults = exchanges.flatMap((each) => {
    const { place, request, answer } = each;
    const what = `${request.method ?? "GET"} ${request.path} answered ${answer.status}`;
    return faultsOf(each).map((fault) => [place, `${what}: ${fault}`] as const);
  });
  const places = Object.entries(Object.groupBy(faults, ([place]) => place));
  return Object.fromEntries(
    places.map(([place, found = []]) => {
      const first = found.slice(0, 5).map(([, fault]) => fault);
      return [place, found.length > 5 ? [...first, `${found.length - 5} more`] : first];
    }),
  );
}

/** All other tests leave these headers out, so that a wrong one fails one test, which names it. */
describe("of every answer, in every host and with access control", () => {
  test.each(COMMON_HEADERS)("%s is as the OpenAPI document says", (name) => {
    const faults = faultsByPlace(({ contract, request, answer, exact }) => {
      const found = contract.commonHeaderFaults(name, request, answer);
      const value = answer.headers[name.toLowerCase()];
      if (found.length === 0 && exact[name] !== undefined && value !== exact[name]) {
        found.push(`the header ${name} must be ${exact[name]}, not ${value}`);
      }
      return found;
    });
    expect(faults).toEqual({});
  });

  test("no header is missing in the OpenAPI document", () => {
    const unknown = faultsByPlace(({ contract, request, answer }) => contract.unknownHeaders(request, answer));
    expect(unknown).toEqual({});
  });

  test("the answers are of every status that access control has, and compressed ones are among them", () => {
    const statuses = new Set(exchanges.map(({ answer }) => answer.status));
    expect([401, 403, 429].filter((status) => !statuses.has(status))).toEqual([]);
    for (const host of Object.keys(REST_HOSTS)) {
      const encodings = exchanges
        .filter(({ place }) => place === host)
        .map(({ answer }) => answer.headers["content-encoding"]);
      expect([host, encodings.includes("gzip")]).toEqual([host, true]);
    }
  });
});
