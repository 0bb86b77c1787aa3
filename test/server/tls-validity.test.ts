import { afterEach, expect, test, vi } from "vitest";
import { readCredentials } from "../../src/server/tls-credentials.ts";
import { tellOfEnd } from "../../src/server/tls-reload.ts";
import { authority, daysFromNow } from "../support/certificates.ts";

afterEach(() => void vi.useRealTimers());

const DAY_MS = 86_400_000;

/** What is told of credentials, the day after which each end comes, and how to stop it. */
async function telling({ certificateDays, listDays }: { certificateDays: number; listDays: number }) {
  const root = await authority();
  const pair = await root.issue("server", { validTo: daysFromNow(certificateDays) });
  const crl = await root.revoke([], daysFromNow(listDays));
  const credentials = await readCredentials({ ...pair, ca: root.ca, crl, clientCertificate: "request" });
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: Date.now() });
  const told: string[] = [];
  const stop = tellOfEnd(credentials, (error) => told.push((error as { reason: string }).reason));
  return { told, stop, days: (days: number) => vi.advanceTimersByTime(days * DAY_MS) };
}

test.each([
  { certificateDays: 90, listDays: 60, reason: "TLS_CRL_OUTDATED" },
  { certificateDays: 60, listDays: 90, reason: "TLS_CERTIFICATE_EXPIRED" },
])("that $reason is told when it comes to be, and once", async ({ reason, ...ends }) => {
  const { told, days } = await telling(ends);
  days(59.9);
  expect(told).toEqual([]);
  days(0.2);
  expect(told).toEqual([reason]);
  days(100);
  expect(told).toEqual([reason]);
});

test("nothing is told of credentials that others took the place of", async () => {
  const { told, stop, days } = await telling({ certificateDays: 5, listDays: 5 });
  stop();
  days(10);
  expect(told).toEqual([]);
});
