import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type ActuatorOptions, createActuator } from "../../src/index.ts";
import { authority, daysFromNow } from "../support/certificates.ts";
import { http2ConnectTls, httpsRequest } from "../support/server-tls.ts";

async function shop(options: ActuatorOptions = {}) {
  const customers = await authority("The customers of the shop");
  const server = await customers.issue("server");
  const customer = await customers.issue("client", { commonName: "customer 7" });
  const actuator = createActuator({ loggers: {}, audit: false, onError: () => undefined, ...options });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { ca } = customers;
  const trust = { ca, servername: "localhost", agent: false } as const;
  return { actuator, ca, server, customer: { ...trust, ...customer }, nobody: trust };
}

/** What a request from elsewhere looks like to a server on this machine. */
const elsewhere = [{ host: "shop.example" }, { "x-forwarded-for": "192.0.2.7" }];

describe("a certificate that TLS has verified", () => {
  test.each(elsewhere)("by the actuator's own port lets in without access control, with %j", async (headers) => {
    const { actuator, ca, server, customer, nobody } = await shop();
    const tls = { ...server, ca, clientCertificate: "request" } as const;
    const { url } = await actuator.listen({ port: 0, tls });
    const ask = async (pair: object) => (await httpsRequest(`${url}/actuator/loggers`, { ...pair, headers })).status;
    expect([await ask(customer), await ask(nobody)]).toEqual([200, 403]);
  });

  test.each(elsewhere)("by a server of the application is that of anybody's customer, with %j", async (headers) => {
    const { actuator, ca, server, customer } = await shop();
    const app = createServer({ ...server, ca, requestCert: true }, actuator.handler);
    onTestFinished(() => void app.close());
    await once(app.listen(0, "127.0.0.1"), "listening");
    const url = `https://127.0.0.1:${(app.address() as AddressInfo).port}/actuator/loggers`;
    expect((await httpsRequest(url, { ...customer, headers })).status).toBe(403);
  });

  test("by a server of the application counts where access control names it", async () => {
    const { actuator, ca, server, customer } = await shop({
      access: { certificates: [{ commonName: "customer 7", permissions: ["loggers:read"] }] },
    });
    const app = createServer({ ...server, ca, requestCert: true }, actuator.handler);
    onTestFinished(() => void app.close());
    await once(app.listen(0, "127.0.0.1"), "listening");
    const url = `https://127.0.0.1:${(app.address() as AddressInfo).port}/actuator/loggers`;
    expect((await httpsRequest(url, { ...customer, headers: elsewhere[0] })).status).toBe(200);
  });

  test.each<ActuatorOptions>([
    {},
    { access: { certificates: [{ commonName: "customer 7", permissions: ["loggers:read"] }] } },
  ])("ends the watches that it began when it ends itself, with %j", async (options) => {
    const { actuator, ca, server, customer } = await shop(options);
    const { url } = await actuator.listen({ port: 0, tls: { ...server, ca, clientCertificate: "request" } });
    const session = await http2ConnectTls(url, { ca, cert: customer.cert, key: customer.key });
    const watch = session.request({
      ":method": "POST",
      ":path": "/actuator.v3.LoggersService/WatchLoggers",
      "content-type": "application/grpc",
      te: "trailers",
    });
    watch.end(Buffer.alloc(5));
    await once(watch, "data");
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ["Date"], now: daysFromNow(40) });
    const [trailers] = await once(watch.resume(), "trailers");
    expect(trailers["grpc-status"]).toBe("16");
  });
});
