import { once } from "node:events";
import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";
import { Agent, createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type ActuatorOptions, createActuator } from "../../../src/index.ts";
import type { AuditRecord } from "../../../src/operations/audit/audit-record.ts";
import { put, scratch } from "../../access/fixtures.ts";
import { authority, daysFromNow } from "../../support/certificates.ts";
import { closeOf, http2Request } from "../../support/server-harness.ts";
import { http2ConnectTls, httpsRequest } from "../../support/server-tls.ts";

async function shop(options: ActuatorOptions = {}) {
  const customers = await authority("The customers of the shop");
  const server = await customers.issue("server");
  const customer = await customers.issue("client", {
    commonName: "customer 7",
    names: [{ type: "dns", value: "customers" }],
  });
  const actuator = createActuator({ loggers: {}, audit: false, onError: () => undefined, ...options });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { ca } = customers;
  const trust = { ca, servername: "localhost", agent: false } as const;
  return { actuator, ca, server, customers, customer: { ...trust, ...customer }, anonymous: trust };
}

/** What a request from elsewhere looks like to a server on this machine. */
const elsewhere = [{ host: "shop.example" }, { "x-forwarded-for": "192.0.2.7" }];

describe("a certificate that TLS has verified", () => {
  test.each(elsewhere)("by the actuator's own port lets in without access control, with %j", async (headers) => {
    const { actuator, ca, server, customer, anonymous } = await shop();
    const tls = { ...server, ca, clientCertificate: "request" } as const;
    const { url } = await actuator.listen({ port: 0, tls });
    const ask = async (pair: object) => (await httpsRequest(`${url}/actuator/loggers`, { ...pair, headers })).status;
    expect([await ask(customer), await ask(anonymous)]).toEqual([200, 403]);
  });

  test.each(elsewhere)("by a server of the application is that of anybody's customer, with %j", async (headers) => {
    const { actuator, ca, server, customer } = await shop({ access: "loopback" });
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
    const watch = await watchOver(await http2ConnectTls(url, { ca, cert: customer.cert, key: customer.key }));
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ["Date"], now: daysFromNow(40) });
    const [trailers] = await once(watch.resume(), "trailers");
    expect(trailers["grpc-status"]).toBe("16");
  });

  test("ends the watches that it began when its authority takes it back, and no others", async () => {
    const { actuator, ca, server, customer, customers } = await shop({
      access: { certificates: [{ alternativeName: "DNS:customers", permissions: ["loggers:read"] }] },
    });
    const other = await customers.issue("client", {
      commonName: "customer 8",
      names: [{ type: "dns", value: "customers" }],
    });
    const crl = join(scratch(), "crl.pem");
    put(crl, await customers.revoke([]));
    const { url } = await actuator.listen({ port: 0, tls: { ...server, ca, crl, clientCertificate: "request" } });
    const watches = [customer, other].map(async ({ cert, key }) =>
      watchOver(await http2ConnectTls(url, { ca, cert, key })),
    );
    const [ended, goesOn] = await Promise.all(watches);
    put(crl, await customers.revoke([customer.cert]));
    const [trailers] = await once(ended!.resume(), "trailers");
    expect(trailers["grpc-status"]).toBe("16");
    expect(goesOn!.closed).toBe(false);
  });

  test.each<ActuatorOptions>([
    {},
    { access: { anonymous: ["*"], certificates: [{ commonName: "customer 7", permissions: ["*"] }] } },
    { access: { anonymous: ["*"], limits: { maxWritesPerMinute: 10 } } },
    { access: { authorize: () => ({ name: "somebody", permissions: ["*"] }) } },
  ])("that has ended opens no more than none where one is required: nothing, with %j", async (options) => {
    const { actuator, ca, server, customer, anonymous } = await shop(options);
    const { url } = await actuator.listen({ port: 0, tls: { ...server, ca, clientCertificate: "require" } });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const session = await http2ConnectTls(url, customer);
    const ask = (path: string, headers = {}) =>
      httpsRequest(`${url}/actuator/${path}`, { ...customer, agent, headers });
    await expect(httpsRequest(`${url}/actuator/loggers`, anonymous)).rejects.toThrow();
    expect((await ask("loggers")).status).toBe(200);
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ["Date"], now: daysFromNow(40) });
    expect(await ask("loggers")).toMatchObject({
      status: 401,
      headers: { connection: "close" },
      body: expect.stringContaining("has expired or was revoked"),
    });
    expect((await ask("loggers", { authorization: "Bearer whatever" })).status, "whatever else is shown").toBe(401);
    for (const headers of elsewhere) expect((await ask("loggers", headers)).status, "from elsewhere").toBe(401);
    expect((await ask("health")).status, "as for everybody").toBe(200);
    const over2 = http2Request(session, { ":path": "/actuator/loggers" });
    await closeOf(session);
    expect((await over2).status).toBe(401);
  });
});

describe("a certificate that cannot be used", () => {
  const rules = { certificates: [{ commonName: "customer 7", permissions: ["*"] }] } as const;
  const expired = { validFrom: daysFromNow(-10), validTo: daysFromNow(-1) };
  type Shop = Awaited<ReturnType<typeof shop>>;
  test.each<readonly [string, ActuatorOptions, (shop: Shop) => Promise<object> | object, string, string]>([
    [
      "of another authority",
      { access: rules },
      async () => (await authority("Others")).issue("client", { commonName: "customer 7" }),
      "customer 7",
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    ],
    [
      "that has expired, where callers may be anonymous",
      { access: { ...rules, anonymous: ["*"] } },
      ({ customers }) => customers.issue("client", { commonName: "customer 7", ...expired }),
      "customer 7",
      "CERT_HAS_EXPIRED",
    ],
    [
      "that has expired, without access control, at a host that others name",
      {},
      ({ customers }) => customers.issue("client", { commonName: "customer 9", ...expired }),
      "customer 9",
      "CERT_HAS_EXPIRED",
    ],
    [
      "that no rule matches",
      { access: rules },
      ({ customers }) => customers.issue("client", { commonName: "customer 8" }),
      "customer 8",
      "no rule",
    ],
  ])("%s is named in the answer and in the audit", async (_, options, issue, name, fault) => {
    const records: AuditRecord[] = [];
    const at = await shop({ ...options, audit: (record) => void records.push(record) });
    const { url } = await at.actuator.listen({
      port: 0,
      tls: { ...at.server, ca: at.ca, clientCertificate: "request" },
    });
    const pair = await issue(at);
    const ask = (path: string, headers = {}) =>
      httpsRequest(`${url}/actuator/${path}`, {
        ...at.anonymous,
        ...pair,
        headers: { host: "shop.example", ...headers },
      });
    const answer = await ask("loggers");
    expect(answer.status).toBe(401);
    expect(JSON.parse(answer.body).message).toContain(`the client certificate "${name}"`.slice(1));
    const record = { result: "UNAUTHENTICATED", certificate: `${name} (${fault})` };
    await expect.poll(() => records).toMatchObject([record]);
    expect(records[0]).not.toHaveProperty("who");
    if (fault !== "no rule") expect(answer.body).toContain(fault);
    if (options.access !== undefined) expect((await ask("health")).status).toBe(200);
  });
});

/** A watch over gRPC that has begun. */
async function watchOver(session: ClientHttp2Session): Promise<ClientHttp2Stream> {
  const watch = session.request({
    ":method": "POST",
    ":path": "/actuator.v3.LoggersService/WatchLoggers",
    "content-type": "application/grpc",
    te: "trailers",
  });
  watch.end(Buffer.alloc(5));
  await once(watch, "data");
  return watch;
}
