import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { Metrics } from "../../../src/operations/metrics/metrics.ts";
import { faultsOf } from "../../operations/metrics/exposition.ts";
import { callRecord, OPERATIONS } from "../../operations/metrics/records.ts";
import { REST_HOSTS } from "../../support/rest-hosts.ts";
import { problemIn, serveRest } from "../../support/rest-server.ts";

const TEXT = "text/plain; version=0.0.4; charset=utf-8";
const OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/** As Prometheus 2.42 and 3.5 send it. */
const SCRAPER_2 =
  "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
const SCRAPER_3 =
  "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1";
const PROTOBUF_FIRST =
  "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";

async function serveMetrics(host?: string) {
  const metrics = new Metrics({ operations: OPERATIONS, basePath: "/actuator" });
  metrics.observe(callRecord());
  return { metrics, ...(await serveRest({ endpoints: { metrics } }, host)) };
}

describe.each(Object.keys(REST_HOSTS))("in %s", (host) => {
  test("metrics are served as text", async () => {
    const { get } = await serveMetrics(host);
    const { status, headers, text } = await get("/actuator/prometheus");
    expect({ status, type: headers["content-type"] }).toEqual({ status: 200, type: TEXT });
    expect(faultsOf(text, "text")).toEqual([]);
    const labels = 'protocol="grpc",operation="actuator.v3.LoggersService/SetLoggerLevel",code="OK"';
    expect(text).toContain(`\nactuator_calls_total{${labels}} 1\n`);
  });
});

test.each([
  [undefined, TEXT],
  ["", TEXT],
  ["*/*", TEXT],
  ["text/*", TEXT],
  ["text/plain", TEXT],
  ["text/plain;charset=UTF-8", TEXT],
  ["text/html,application/xhtml+xml,*/*;q=0.8", TEXT],
  ["application/openmetrics-text", OPENMETRICS],
  ['application/openmetrics-text; version="1.0.0"', OPENMETRICS],
  ["application/openmetrics-text;q=0.5,text/plain;q=0.4", OPENMETRICS],
  ["text/plain;version=0.0.4;q=0.9,application/openmetrics-text;q=0.5", TEXT],
  ["text/plain;q=0,*/*", OPENMETRICS],
  ["text/plain;charset=iso-8859-1,application/openmetrics-text;q=0.1", OPENMETRICS],
  [SCRAPER_2, OPENMETRICS],
  [SCRAPER_3, OPENMETRICS],
  [PROTOBUF_FIRST, TEXT],
])("Accept: %s is answered as %s", async (accept, type) => {
  const { get } = await serveMetrics();
  const { status, headers, text } = await get("/actuator/prometheus", accept === undefined ? {} : { Accept: accept });
  expect({ status, type: headers["content-type"] }).toEqual({ status: 200, type });
  expect(faultsOf(text, type === TEXT ? "text" : "openmetrics")).toEqual([]);
  expect(headers.vary).toMatch(/\bAccept\b/);
});

test.each([
  "application/json",
  "application/openmetrics-text;version=2.0.0",
  "text/plain;version=1.0.0",
  "*/*;q=0",
  ";;",
])("Accept: %s is 406, which lists the types", async (accept) => {
  const { get } = await serveMetrics();
  const answer = await get("/actuator/prometheus", { Accept: accept });
  expect(answer.headers).toMatchObject({ accept: `${TEXT}, ${OPENMETRICS}` });
  expect(problemIn(answer)).toMatchObject({ status: 406, path: "/actuator/prometheus" });
});

test("HEAD answers as GET does, without the text", async () => {
  const { send, get } = await serveMetrics();
  const { status, headers, text } = await send({ method: "HEAD", path: "/actuator/prometheus" });
  expect({ status, text, type: headers["content-type"] }).toEqual({ status: 200, text: "", type: TEXT });
  expect(headers["content-length"]).toBe((await get("/actuator/prometheus")).headers["content-length"]);
});

test("the text is compressed for scrapers that ask for it", async () => {
  const { get } = await serveMetrics();
  const plain = await get("/actuator/prometheus");
  const { headers, bytes } = await get("/actuator/prometheus", { "Accept-Encoding": "gzip" });
  expect(headers).toMatchObject({ "content-encoding": "gzip", "content-type": TEXT });
  expect(gunzipSync(bytes).toString()).toBe(plain.text);
});

test("each scrape reads anew", async () => {
  const { metrics, get } = await serveMetrics();
  const calls = async () => /^actuator_calls_total.* (\d+)$/m.exec((await get("/actuator/prometheus")).text)?.[1];
  expect(await calls()).toBe("1");
  metrics.observe(callRecord());
  expect(await calls()).toBe("2");
});

test("the index keeps to the keys of the contract", async () => {
  const { get } = await serveMetrics();
  expect(JSON.parse((await get("/actuator")).text)._links).not.toHaveProperty("prometheus");
  const bare = await serveRest();
  expect((await bare.get("/actuator/prometheus")).status).toBe(404);
});

test.each(["POST", "DELETE", "PUT"])("%s is 405", async (method) => {
  const { send } = await serveMetrics();
  const answer = await send({ method, path: "/actuator/prometheus" });
  expect({ status: answer.status, allow: answer.headers.allow }).toEqual({ status: 405, allow: "GET, HEAD, OPTIONS" });
});
