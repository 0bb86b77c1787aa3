import { describe, expect, test } from "vitest";
import { addressList } from "../../src/common/ip-address.ts";
import { alternativeNamesOf, clientCertificate } from "../../src/server/client-certificate.ts";
import type { ServerRequest } from "../../src/server/handler.ts";
import { clientAddress, isEncrypted, isForwarded } from "../../src/server/peer.ts";

const proxies = addressList(["127.0.0.1", "::1", "10.0.0.0/8"]);

/** A request as far as its peer is concerned. */
function requestFrom(remoteAddress: string | undefined, headers: Readonly<Record<string, string>> = {}): ServerRequest {
  return { headers, socket: { remoteAddress } } as unknown as ServerRequest;
}

describe("the address of a client", () => {
  test.each([
    ["of the socket", "192.0.2.1", {}, "192.0.2.1"],
    ["of the socket, whatever it says of itself", "192.0.2.1", { "x-forwarded-for": "192.0.2.9" }, "192.0.2.1"],
    ["IPv4 inside of IPv6 as IPv4", "::ffff:192.0.2.1", {}, "192.0.2.1"],
    ["without its zone", "fe80::1%eth0", {}, "fe80::1"],
    ["that is nobody's where the socket has none", undefined, { "x-forwarded-for": "192.0.2.9" }, ""],
    ["of the proxy where it names nobody", "127.0.0.1", {}, "127.0.0.1"],
    ["named by the proxy", "127.0.0.1", { "x-forwarded-for": "192.0.2.9" }, "192.0.2.9"],
    ["named by a proxy inside of IPv6", "::ffff:10.1.2.3", { "x-forwarded-for": "192.0.2.9" }, "192.0.2.9"],
    ["the nearest that is no proxy", "::1", { "x-forwarded-for": "6.6.6.6, 192.0.2.9, 10.0.0.1" }, "192.0.2.9"],
    ["the farthest of proxies alone", "::1", { "x-forwarded-for": "10.0.0.2, 10.0.0.1" }, "10.0.0.2"],
    ["with spaces and tabs around it", "::1", { "x-forwarded-for": "6.6.6.6,\t192.0.2.9 " }, "192.0.2.9"],
    ["without its port", "::1", { "x-forwarded-for": "192.0.2.9:4711" }, "192.0.2.9"],
    ["IPv6", "::1", { "x-forwarded-for": "2001:DB8:0:0::9" }, "2001:db8::9"],
    ["IPv6 in brackets", "::1", { "x-forwarded-for": "[2001:db8::9]" }, "2001:db8::9"],
    ["IPv6 with a port", "::1", { "x-forwarded-for": "[2001:db8::9]:4711" }, "2001:db8::9"],
    ["IPv4 inside of IPv6, which is a proxy", "::1", { "x-forwarded-for": "192.0.2.9, ::ffff:0a00:0001" }, "192.0.2.9"],
    ["by Forwarded", "::1", { forwarded: "for=192.0.2.9;proto=https;by=10.0.0.1" }, "192.0.2.9"],
    ["by Forwarded, the nearest", "::1", { forwarded: 'For=6.6.6.6, for="192.0.2.9:80", for=10.0.0.1' }, "192.0.2.9"],
    ["by Forwarded, IPv6", "::1", { forwarded: 'proto=https;for="[2001:db8::9]:4711"' }, "2001:db8::9"],
    ["by Forwarded, a comma in quotes", "::1", { forwarded: 'for=192.0.2.9;host="a,for=6.6.6.6"' }, "192.0.2.9"],
    ["by Forwarded, behind a quote without an end", "::1", { forwarded: 'for="6.6.6.6, for=192.0.2.9' }, "192.0.2.9"],
    ["by Forwarded, behind escapes without an end", "::1", { forwarded: 'for="\\", for=192.0.2.9' }, "192.0.2.9"],
    ["by Forwarded, behind nothing", "::1", { forwarded: "for=192.0.2.9,," }, "192.0.2.9"],
    ["by Forwarded, behind a megabyte", "::1", { forwarded: `${'"\\'.repeat(500_000)}, for=192.0.2.9` }, "192.0.2.9"],
    ["by both alike", "::1", { forwarded: "for=192.0.2.9", "x-forwarded-for": "192.0.2.9" }, "192.0.2.9"],
    // A proxy that writes one of the two hands on the other as its client sent it.
    ["by both, not alike", "::1", { forwarded: "for=6.6.6.6", "x-forwarded-for": "192.0.2.9" }, "::1"],
    ["by both, one shorter", "::1", { forwarded: "for=192.0.2.9", "x-forwarded-for": "6.6.6.6, 192.0.2.9" }, "::1"],
  ] as const)("%s", (_, peer, headers, address) => {
    expect(clientAddress(requestFrom(peer, headers), proxies)).toBe(address);
  });

  test.each<[string, object, string | undefined]>([
    ["a Unix socket", { server: { address: () => "/run/shop.sock" } }, undefined],
    ["a port, reset", { localAddress: "192.0.2.1", server: { address: () => ({ address: "::", port: 80 }) } }, ""],
    ["a port that is closed, reset", { server: { address: () => null } }, ""],
    ["a port, handed to a server on a Unix socket", { localAddress: "::1", server: { address: () => "/run/s" } }, ""],
    ["nothing that Node made", {}, ""],
  ])("without one, over %s", (_, socket, address) => {
    expect(clientAddress({ headers: {}, socket } as unknown as ServerRequest, () => true)).toBe(address);
  });

  test("nothing that is local once the connection is gone", () => {
    const gone = { headers: {}, socket: { remoteAddress: undefined, destroyed: true } };
    for (const stream of [undefined, { session: undefined }, { session: { destroyed: true } }]) {
      const request = { ...gone, ...(stream && { stream }) } as unknown as ServerRequest;
      expect(clientAddress(request, () => true)).toBe("");
      expect(isEncrypted(request)).toBe(false);
      expect(clientCertificate(request)).toBeUndefined();
    }
  });

  test.each([
    "",
    "unknown",
    "_hidden",
    "localhost",
    "192.0.2",
    "192.0.2.256",
    "0192.0.2.1",
    "1.2.3.4:port",
    "1.2.3.4:123456",
    "[192.0.2.1]",
    "[2001:db8::9",
    "2001:db8::9]",
    "2001:db8::9]:80",
    "fe80::1%eth0",
    "[fe80::1%25eth0]",
    "192.0.2.1 192.0.2.2",
    "192.0.2.1;",
    '"192.0.2.1"',
    "6.6.6.6,",
    "::ffff:10.0.0.1:80",
  ])("a hop of %j ends the search at the proxy that named it", (hop) => {
    expect(clientAddress(requestFrom("127.0.0.1", { "x-forwarded-for": `6.6.6.6, ${hop}, 10.0.0.7` }), proxies)).toBe(
      "10.0.0.7",
    );
  });

  test.each([
    "",
    "proto=https",
    "for=",
    "for=unknown",
    "for=_hidden",
    'for="_hidden:80"',
    "for=6.6.6.6;for=192.0.2.9",
    "for = 192.0.2.9",
    "for=2001:db8::9",
    'for="192.0.2.9',
    'for=192.0.2.9"',
    'for="192.0.\\2.9"',
    "for=192.0.2.9;",
    "for=192.0.2.9 proto=https",
    "192.0.2.9",
  ])("by Forwarded, %j names nobody", (forwarded) => {
    expect(clientAddress(requestFrom("127.0.0.1", { forwarded }), proxies)).toBe("127.0.0.1");
  });

  test("a list without end is read from its near end, and not to the far one", () => {
    const far = "192.0.2.1";
    const address = (list: string) => clientAddress(requestFrom("::1", { "x-forwarded-for": list }), proxies);
    expect(address(`${"6.6.6.6, ".repeat(10_000)}192.0.2.9`)).toBe("192.0.2.9");
    expect(address(`${far}${", 10.0.0.1".repeat(31)}`)).toBe(far);
    expect(address(`${far}${", 10.0.0.1".repeat(32)}`)).toBe("10.0.0.1");
    expect(address(`${far},${" ".repeat(5_000)}10.0.0.1`)).toBe("::1");
  });

  test("whether a request came through somebody shows in its headers", () => {
    expect(isForwarded(requestFrom("::1"))).toBe(false);
    expect(isForwarded(requestFrom("::1", { "x-forwarded-for": "" }))).toBe(true);
    expect(isForwarded(requestFrom("::1", { forwarded: "" }))).toBe(true);
    expect(isForwarded(requestFrom("::1", { via: "1.1 edge" }))).toBe(true);
  });
});

describe("the alternative names of a certificate", () => {
  test.each<[string | undefined, string[]]>([
    [undefined, []],
    ["", []],
    ["DNS:orders.internal", ["DNS:orders.internal"]],
    [
      "DNS:a.test, IP Address:127.0.0.1, URI:spiffe://example.org/orders",
      ["DNS:a.test", "IP Address:127.0.0.1", "URI:spiffe://example.org/orders"],
    ],
    ['URI:"spiffe://example.org/a, DNS:admin", DNS:b', ["URI:spiffe://example.org/a, DNS:admin", "DNS:b"]],
    ['DNS:"quote \\" and \\\\ inside"', ['DNS:quote " and \\ inside']],
    [
      "email:a@b.test, Registered ID:1.2.3, othername:<unsupported>",
      ["email:a@b.test", "Registered ID:1.2.3", "othername:<unsupported>"],
    ],
    // Whatever does not read to its end could mean anything.
    ['DNS:a, URI:"broken', []],
    ["DNS:a,DNS:b", []],
    ["DNS:a, nothing", []],
  ])("%s", (list, names) => {
    expect(alternativeNamesOf(list)).toEqual(names);
  });
});
