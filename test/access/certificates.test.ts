import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { createServer, request } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import type { CertificateRule } from "../../src/access/options.ts";
import { clientCertificate } from "../../src/server/client-certificate.ts";
import { authority, type KeyPair } from "../support/certificates.ts";
import { accessWith, authRequest, nameOf, outcome } from "./fixtures.ts";

const INVALID = "UNAUTHENTICATED CREDENTIALS_INVALID";
const MISSING = "UNAUTHENTICATED CREDENTIALS_MISSING";

const ours = await authority("ours");
const theirs = await authority("theirs");
const server = await ours.issue("server");
const spiffe = "spiffe://example.org/orders";
const orders = await ours.issue("client", {
  commonName: "orders",
  names: [
    { type: "url", value: spiffe },
    { type: "dns", value: "orders.internal" },
  ],
});
const nameless = await ours.issue("client", { commonName: "", names: [{ type: "dns", value: "orders.internal" }] });
const pretender = await theirs.issue("client", { commonName: "orders" });
const fingerprint = new X509Certificate(orders.cert).fingerprint256;

/** What comes of showing a certificate to a real server that asks for one and has these rules. */
async function shown(rules: readonly CertificateRule[], client: KeyPair | undefined): Promise<string> {
  const { access } = accessWith({ certificates: rules });
  const listener = createServer(
    { ...server, ca: ours.ca, requestCert: true, rejectUnauthorized: false },
    async (req, res) => {
      res.end(await nameOf(access, authRequest({ certificate: clientCertificate(req) })));
    },
  ).listen(0, "127.0.0.1");
  onTestFinished(() => {
    listener.close();
    listener.closeAllConnections();
  });
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  const call = request({ port, host: "127.0.0.1", ca: ours.ca, agent: false, ...client }).end();
  const [response] = await once(call, "response");
  return (await response.setEncoding("utf8").toArray()).join("");
}

describe("a client certificate", () => {
  const all = { permissions: ["*" as const] };
  test.each<[what: string, rule: CertificateRule, client: KeyPair | undefined, result: string]>([
    ["of the common name", { commonName: "orders", ...all }, orders, "orders"],
    ["of one of the alternative names", { alternativeName: `URI:${spiffe}`, ...all }, orders, `URI:${spiffe}`],
    ["of another of them", { alternativeName: "DNS:orders.internal", name: "Orders", ...all }, nameless, "Orders"],
    ["of the fingerprint", { fingerprint256: fingerprint, name: "pinned", ...all }, orders, "pinned"],
    [
      "of the fingerprint in lower case",
      { fingerprint256: fingerprint.toLowerCase(), commonName: "orders", ...all },
      orders,
      "orders",
    ],
    ["of all that is asked", { commonName: "orders", alternativeName: `URI:${spiffe}`, ...all }, orders, "orders"],
    ["of not all that is asked", { commonName: "orders", alternativeName: "DNS:payments", ...all }, orders, INVALID],
    ["of another name", { commonName: "order", ...all }, orders, INVALID],
    ["of another case", { commonName: "Orders", ...all }, orders, INVALID],
    ["of a name of another kind", { alternativeName: `DNS:${spiffe}`, ...all }, orders, INVALID],
    ["of no common name", { commonName: "orders", ...all }, nameless, INVALID],
    [
      "of another fingerprint",
      { fingerprint256: fingerprint.replace(/^../, (first) => (first === "00" ? "01" : "00")), ...all },
      orders,
      INVALID,
    ],
    ["of the common name, but of another authority", { commonName: "orders", ...all }, pretender, MISSING],
    ["that is none", { commonName: "orders", ...all }, undefined, MISSING],
  ])("%s", async (_, rule, client, result) => {
    expect(await shown([rule], client)).toBe(result);
  });

  test("is known by the first rule that fits, with what that gives", async () => {
    const { access } = accessWith({
      certificates: [
        { commonName: "payments", permissions: ["*"] },
        { commonName: "orders", permissions: ["loggers:write"], loggers: ["orders"] },
        { alternativeName: "DNS:orders.internal", permissions: ["*"] },
      ],
    });
    const certificate = {
      commonName: "orders",
      alternativeNames: ["DNS:orders.internal"],
      fingerprint256: "0".repeat(64),
    };
    const caller = await outcome(access, authRequest({ certificate }), "loggers:write");
    expect(caller).toEqual({
      name: "orders",
      authentication: "certificate",
      permissions: new Set(["loggers:write"]),
      loggers: ["orders"],
    });
    expect(await nameOf(access, authRequest({ certificate }), "info:read")).toBe(
      "PERMISSION_DENIED PERMISSION_MISSING",
    );
    if (typeof caller === "object") expect(access.isStillValid(caller)).toBe(true);
  });

  test("is nothing to anybody where there are no rules for it", async () => {
    const { access } = accessWith({
      authorize: ({ certificate }) => certificate && { name: "app", permissions: ["*"] },
    });
    const certificate = { commonName: "orders", alternativeNames: [], fingerprint256: "" };
    expect(await nameOf(access, authRequest({ certificate }))).toBe("app");
  });
});
