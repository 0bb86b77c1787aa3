import { renameSync, writeFileSync } from "node:fs";
import { Agent } from "node:https";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { clientCertificate, hasExpiredCertificate } from "../../src/server/client-certificate.ts";
import type { RequestHandler } from "../../src/server/handler.ts";
import type { TlsOptions } from "../../src/server/tls-options.ts";
import { scratch } from "../access/fixtures.ts";
import { type Authority, authority, daysFromNow, type KeyPair } from "../support/certificates.ts";
import { http2Request } from "../support/server-harness.ts";
import { http2ConnectTls, httpsRequest, serveTls } from "../support/server-tls.ts";

let root: Authority;
let branch: Authority;
let alice: KeyPair;
let bob: KeyPair;
/** Shows the certificate of the branch that vouches for it. */
let carol: KeyPair;
/** Leaves that to the server, which has it among its authorities. */
let dave: KeyPair;

beforeAll(async () => {
  root = await authority("The root");
  branch = await root.delegate("A branch");
  [alice, bob, carol, dave] = await Promise.all([
    root.issue("client", { commonName: "alice" }),
    root.issue("client", { commonName: "bob" }),
    branch.issue("client", { commonName: "carol" }),
    branch.issue("client", { commonName: "dave" }),
  ]);
  carol = { ...carol, cert: [carol.cert, branch.ca].join("\n") };
});

const say: RequestHandler = (req, res) =>
  void res.end(clientCertificate(req)?.commonName ?? (hasExpiredCertificate(req) ? "lapsed" : "nobody"));

/** A port that these lists are for, and the same port when others take their place. */
async function serve(lists: readonly string[], options: Partial<TlsOptions> = {}) {
  const crl = join(scratch(), "crl.pem");
  const put = (lists: readonly string[]) => {
    writeFileSync(`${crl}.new`, lists.join(""));
    renameSync(`${crl}.new`, crl);
  };
  put(lists);
  const reports: unknown[] = [];
  const onError = (error: unknown) => void reports.push(error);
  const tls = { ca: root.ca + branch.ca, crl, clientCertificate: "request", ...options } as const;
  const { url } = await serveTls(say, tls, { onError });
  return { url, put, reports };
}

/** Ways to ask that each keep their connection. */
function keeping(url: string, pair: KeyPair): { over1: () => Promise<string>; over2: () => Promise<string> } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const session = http2ConnectTls(url, pair);
  return {
    over1: async () => (await httpsRequest(url, { ...pair, agent })).body,
    over2: async () => (await http2Request(await session, { ":path": "/" })).body,
  };
}

describe("a certificate that its authority has revoked", () => {
  test.each(["TLSv1.2", "TLSv1.3"] as const)("is none from the beginning, over %s", async (maxVersion) => {
    const { url } = await serve([await root.revoke([bob.cert]), await branch.revoke([carol.cert])]);
    const names = async (pair: KeyPair) => {
      const over1 = await httpsRequest(url, { ...pair, maxVersion, agent: false });
      const over2 = await http2Request(await http2ConnectTls(url, { ...pair, maxVersion }), { ":path": "/" });
      return [over1.body, over2.body];
    };
    expect(await names(alice)).toEqual(["alice", "alice"]);
    expect(await names(bob)).toEqual(["nobody", "nobody"]);
    expect(await names(carol)).toEqual(["nobody", "nobody"]);
    expect(await names(dave)).toEqual(["dave", "dave"]);
  });

  test("is not let in where one is required", async () => {
    const { url } = await serve([await root.revoke([bob.cert])], { ca: root.ca, clientCertificate: "require" });
    expect((await httpsRequest(url, { ...alice, agent: false })).body).toBe("alice");
    await expect(httpsRequest(url, { ...bob, agent: false })).rejects.toThrow();
  });

  test("is none on connections that stand, and on new ones, as soon as the list says so", async () => {
    const { url, put, reports } = await serve([await root.revoke([]), await branch.revoke([])]);
    const [ofAlice, ofBob, ofDave] = [keeping(url, alice), keeping(url, bob), keeping(url, dave)];
    for (const [name, { over1, over2 }] of Object.entries({ alice: ofAlice, bob: ofBob, dave: ofDave })) {
      expect([await over1(), await over2()]).toEqual([name, name]);
    }
    put([await root.revoke([alice.cert]), await branch.revoke([])]);
    await expect.poll(ofAlice.over1).toBe("lapsed");
    expect(await ofAlice.over2()).toBe("lapsed");
    expect((await httpsRequest(url, { ...alice, agent: false })).body).toBe("nobody");
    expect([await ofBob.over1(), await ofBob.over2(), await ofDave.over2()]).toEqual(["bob", "bob", "dave"]);

    // The branch itself, and with it all that it vouches for.
    put([await root.revoke([alice.cert, branch.ca]), await branch.revoke([])]);
    await expect.poll(ofDave.over1).toBe("lapsed");
    expect([await ofDave.over2(), await ofBob.over1()]).toEqual(["lapsed", "bob"]);

    // What was a mistake, or is held no more, counts again.
    put([await root.revoke([]), await branch.revoke([])]);
    await expect.poll(ofAlice.over2).toBe("alice");
    expect(reports).toEqual([]);
  });

  test.each(["its branch", "its branch, and a false one of its name"])(
    "is none where what vouches for it is revoked, with %s shown",
    async (what) => {
      const shown = what === "its branch" ? [carol.cert] : [carol.cert, (await authority("A branch")).ca];
      const { url, put } = await serve([await root.revoke([]), await branch.revoke([])], { ca: root.ca });
      const { over1, over2 } = keeping(url, { ...carol, cert: shown.join("\n") });
      expect([await over1(), await over2()]).toEqual(["carol", "carol"]);
      put([await root.revoke([branch.ca]), await branch.revoke([])]);
      await expect.poll(over1, { timeout: 15_000 }).toBe("lapsed");
      expect(await over2()).toBe("lapsed");
    },
  );

  test.each([
    { written: { utf8String: "The root" } },
    { written: { bmpString: "The root" } },
    { written: { printableString: " the  ROOT" } },
  ])(
    "is none on connections that stand, where the list writes the authority's name as $written",
    async ({ written }) => {
      const { url, put } = await serve([await root.revoke([])], { ca: root.ca });
      const { over1, over2 } = keeping(url, alice);
      expect([await over1(), await over2()]).toEqual(["alice", "alice"]);
      put([await root.revoke([alice.cert], daysFromNow(30), [{ CN: [written] }])]);
      await expect.poll(over1, { timeout: 15_000 }).toBe("lapsed");
      expect(await over2()).toBe("lapsed");
      expect((await httpsRequest(url, { ...alice, agent: false })).body).toBe("nobody");
    },
  );

  test("of another authority with the same number is another's", async () => {
    const other = await authority("Another root");
    const { url } = await serve([await root.revoke([]), await other.revoke([alice.cert])], {
      ca: [root.ca, other.ca].join("\n"),
    });
    const { over1, over2 } = keeping(url, alice);
    expect([await over1(), await over2()]).toEqual(["alice", "alice"]);
  });
});

test("a list that was to be replaced by now lets nobody of its authority in, and that is told", async () => {
  const { url, reports } = await serve([await root.revoke([], daysFromNow(-1))], { ca: root.ca });
  expect((await httpsRequest(url, { ...alice, agent: false })).body).toBe("nobody");
  expect(reports).toEqual([
    expect.objectContaining({ reason: "TLS_CRL_OUTDATED", message: expect.stringContaining("no client of its") }),
  ]);
});

test("an authority without a list lets nobody in where others have one", async () => {
  const { url } = await serve([await root.revoke([])]);
  expect((await httpsRequest(url, { ...alice, agent: false })).body).toBe("alice");
  expect((await httpsRequest(url, { ...carol, agent: false })).body).toBe("nobody");
});
