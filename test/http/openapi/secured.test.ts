import { describe, expect, onTestFinished, test } from "vitest";
import type { ActuatorOptions } from "../../../src/actuator-options.ts";
import type { OpenApiDocument } from "../../../src/http/openapi/document.ts";
import type { RestClient } from "../../support/rest-client.ts";
import { LOW_LIMITS, OPEN, REPEATED, SECURED, serveSecured } from "./secured-application.ts";

interface Served {
  readonly document: OpenApiDocument;
  /** Fails if an answer is not as the document that the server itself shows. */
  readonly send: RestClient;
}

async function serve(more?: ActuatorOptions, limits?: object): Promise<Served> {
  const { document, contract, client, close } = await serveSecured(more, limits);
  onTestFinished(close);
  return { document, send: contract.checked(client) };
}

describe("with access control every answer is as the document of the server says", () => {
  test.each(SECURED)("%s", async (_, request, status) => {
    const { send } = await serve();
    expect((await send(request)).status).toBe(status);
  });

  test.each(REPEATED)("too many %s", async (_, request, statuses) => {
    const { send } = await serve({}, LOW_LIMITS);
    expect([(await send(request)).status, (await send(request)).status]).toEqual(statuses);
  });
});

describe("without access control, too", () => {
  const open = (more: ActuatorOptions) => serve({ access: undefined, ...more });

  test.each(OPEN)("%s", async (_, request, status, more) => {
    const { send } = await open(more);
    expect((await send(request)).status).toBe(status);
  });

  test("the document names the address that the caller sees, and keeps its tag while that is the same", async () => {
    const { document, send } = await open({ basePath: "/actuator", trustedProxies: ["127.0.0.1"] });
    expect(document.servers[0]!.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const { headers } = await send({ path: "/actuator/openapi.json" });
    expect(headers["content-type"]).toBe("application/json");
    const known = { "If-None-Match": headers.etag! };
    expect((await send({ path: "/actuator/openapi.json", headers: known })).status).toBe(304);
    const other = await send({ path: "/actuator/openapi.json", headers: { ...known, Host: "localhost:81" } });
    expect(JSON.parse(other.text).servers[0].url).toBe("http://localhost:81");
  });

  test("the document is sent whatever Accept prefers", async () => {
    const { send } = await open({});
    for (const accept of ["text/html", "application/vnd.oai.openapi+json;version=3.1", "application/yaml"]) {
      expect((await send({ path: "/actuator/openapi.json", headers: { Accept: accept } })).status).toBe(200);
    }
  });

  test("the index leaves the document out", async () => {
    const { send } = await open({});
    expect((await send({ path: "/actuator" })).text).not.toContain("openapi");
  });
});
