import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RestApplication } from "../../support/rest-application.ts";
import type { RestResponse } from "../../support/rest-client.ts";
import { REST_HOSTS, type RestHost } from "../../support/rest-hosts.ts";
import { type Expected, OVERRULED, type Overruling } from "./overruled.ts";
import { recordedApplication } from "./recorded-application.ts";
import { RECORDED, type RecordedExchange } from "./recorded-exchange.ts";

const used = new Set<Overruling>();

// Headers that are recorded but not compared: content-length and transfer-encoding, which frame the body; content-language,
// which only an HTML page had; and accept-patch, which was empty.
describe.each(["node:http", "node:http2"])("the recorded answers of the original, over %s", (protocol) => {
  let application: RestApplication;
  let host: RestHost;
  beforeAll(async () => {
    application = recordedApplication();
    host = await REST_HOSTS[protocol]!(application.gateway);
  });
  afterAll(() => host.close());

  test.each(RECORDED)("$id: $request.method $why", async (exchange) => {
    const address = `127.0.0.1:${host.port}`;
    let expected = recorded(exchange, address);
    for (const overruling of OVERRULED) {
      const context = { exchange, expected, application, protocol };
      if (!overruling.applies(context)) continue;
      used.add(overruling);
      expected = { ...expected, ...overruling.demands(context) };
    }
    const answer = actual(await application.checked(host.client)(exchange.request));
    expect({ ...answer, text: expected.text === undefined ? undefined : answer.text }).toEqual(expected);
  });
});

test("every row of the table overrules some record", () => {
  expect(OVERRULED.filter((overruling) => !used.has(overruling))).toEqual([]);
});

function recorded({ response }: RecordedExchange, address: string): Expected {
  const { headers } = response;
  return {
    status: response.status,
    contentType: headers["content-type"],
    contentDisposition: headers["content-disposition"],
    allow: sorted(headers.allow),
    accept: headers.accept,
    text: response.text.replaceAll("HOST", address),
  };
}

function actual({ status, headers, text }: RestResponse): Expected {
  return {
    status,
    contentType: headers["content-type"],
    contentDisposition: headers["content-disposition"],
    allow: sorted(headers.allow),
    accept: headers.accept,
    text: text
      .replace(/^\{"timestamp":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/, '{"timestamp":"TIMESTAMP"')
      .replace(/("error":"[^"]*"),"message":"(?:[^"\\]|\\.)+"/, '$1,"message":"MESSAGE"'),
  };
}

function sorted(list: string | undefined): string | undefined {
  return list?.split(/, ?/).sort().join(", ");
}
