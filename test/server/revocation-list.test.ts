import { X509Certificate } from "node:crypto";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import {
  certificateNumber,
  decodeRevocationList,
  isRevoked,
  type RevocationList,
  revocationListBlocks,
} from "../../src/server/revocation-list.ts";
import { authority, daysFromNow } from "../support/certificates.ts";

let certificates: string[];
let block: string;
let list: RevocationList;
const nextUpdate = new Date(Math.floor(daysFromNow(30).getTime() / 1_000) * 1_000);

beforeAll(async () => {
  const root = await authority();
  const issued = await Promise.all(Array.from({ length: 20 }, () => root.issue("client")));
  certificates = issued.map(({ cert }) => cert);
  block = await root.revoke(certificates.slice(0, 10), nextUpdate);
  list = decodeRevocationList(block);
});

test("a list knows those that it holds, and by when it is to be replaced", () => {
  const revoked = certificates.map((pem) => isRevoked(list, certificateNumber(new X509Certificate(pem).raw)));
  expect(revoked).toEqual(certificates.map((_, at) => at < 10));
  expect(list.nextUpdate).toBe(nextUpdate.getTime());
});

test("lists are told apart, with whatever words between them", () => {
  expect(revocationListBlocks(`of today:\n${block} and ${block}\n-----BEGIN X509 CRL-----\nAA`)).toEqual([
    block,
    block,
  ]);
});

test("whatever is damaged is refused or read, and does not go on for ever", () => {
  const der = Buffer.from(block.replaceAll(/-----[^-]+-----/g, ""), "base64");
  const damage = fc.record({ at: fc.nat(der.length - 1), byte: fc.nat(255), length: fc.nat(der.length) });
  fc.assert(
    fc.property(damage, ({ at, byte, length }) => {
      const damaged = Buffer.from(der);
      damaged[at] = byte;
      const pem = `-----BEGIN X509 CRL-----${damaged.subarray(0, length).toString("base64")}-----END X509 CRL-----`;
      const decoded = decodedOrRefused(pem);
      expect(decoded?.serials.size ?? 0).toBeLessThanOrEqual(der.length);
      expect(decoded?.nextUpdate).not.toBeNaN();
    }),
    { numRuns: 2_000 },
  );
});

function decodedOrRefused(pem: string): RevocationList | undefined {
  try {
    return decodeRevocationList(pem);
  } catch (error) {
    expect(error).toBeInstanceOf(Error);
    return undefined;
  }
}
