import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { clientCertificate } from "../../src/server/client-certificate.ts";
import type { RequestHandler } from "../../src/server/handler.ts";
import { createListener } from "../../src/server/listener.ts";
import { readCredentials } from "../../src/server/tls-credentials.ts";
import type { TlsOptions } from "../../src/server/tls-options.ts";
import { reloadCredentials } from "../../src/server/tls-reload.ts";
import { type Authority, authority, daysFromNow, type KeyPair } from "../support/certificates.ts";
import { eventually, http2Request } from "../support/server-harness.ts";
import { http2ConnectTls, httpsRequest, tlsClient } from "../support/server-tls.ts";

let root: Authority;
let pairs: KeyPair[];

beforeAll(async () => {
  root = await authority();
  pairs = await Promise.all(["first", "second", "third"].map((commonName) => root.issue("server", { commonName })));
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "reload-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Ways in which operators replace the two files. Each returns the options that name them, and how to replace them. */
const WAYS: Record<string, (first: KeyPair) => { options: TlsOptions; replace: (pair: KeyPair) => void }> = {
  "written over, one after the other": (first) => {
    const folder = newFolder();
    const options = { cert: join(folder, "tls.crt"), key: join(folder, "tls.key") };
    const replace = ({ cert, key }: KeyPair) => {
      writeFileSync(options.cert, cert);
      writeFileSync(options.key, key);
    };
    replace(first);
    return { options, replace };
  },
  "renamed over": (first) => {
    const folder = newFolder();
    const options = { cert: join(folder, "tls.crt"), key: join(folder, "tls.key") };
    const replace = ({ cert, key }: KeyPair) => {
      for (const [path, content] of [
        [options.key, key],
        [options.cert, cert],
      ] as const) {
        writeFileSync(`${path}.new`, content);
        renameSync(`${path}.new`, path);
      }
    };
    replace(first);
    return { options, replace };
  },
  // As Kubernetes mounts secrets: tls.crt → ..data/tls.crt, and ..data → a folder of one version.
  "behind a symbolic link that is turned": (first) => {
    const folder = newFolder();
    let version = 0;
    const replace = ({ cert, key }: KeyPair) => {
      const data = `..version-${++version}`;
      mkdirSync(join(folder, data));
      writeFileSync(join(folder, data, "tls.crt"), cert);
      writeFileSync(join(folder, data, "tls.key"), key);
      symlinkSync(data, join(folder, "..data_tmp"));
      renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
      if (version > 1) rmSync(join(folder, `..version-${version - 1}`), { recursive: true });
    };
    replace(first);
    for (const name of ["tls.crt", "tls.key"]) symlinkSync(join("..data", name), join(folder, name));
    return { options: { cert: join(folder, "tls.crt"), key: join(folder, "tls.key") }, replace };
  },
};

async function serve(tls: TlsOptions, handler: RequestHandler = (_, res) => void res.end("hello")) {
  const reports: { error: Error; context: string }[] = [];
  const onError = (error: unknown, context: string) => void reports.push({ error: error as Error, context });
  const listener = createListener(handler, { onError });
  onTestFinished(() => listener.drain({ deadlineMs: 0 }));
  const { port, url } = await listener.listen({ port: 0, tls });
  const shown = async () => {
    const { socket } = await tlsClient(port, { ca: root.ca, checkServerIdentity: () => undefined });
    const { CN } = socket.getPeerCertificate().subject;
    socket.destroy();
    return CN;
  };
  return { listener, port, url, reports, shown };
}

async function becomes(shown: () => Promise<unknown>, name: string): Promise<void> {
  let now: unknown;
  const end = performance.now() + 20_000;
  while ((now = await shown()) !== name) {
    if (performance.now() > end) throw new Error(`still ${now}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe("certificates that are replaced are served to new connections", () => {
  test.each(Object.entries(WAYS))("%s", async (_, way) => {
    const { options, replace } = way(pairs[0]!);
    const { shown, reports } = await serve(options);
    expect(await shown()).toBe("first");
    replace(pairs[1]!);
    await becomes(shown, "second");
    replace(pairs[2]!);
    await becomes(shown, "third");
    expect(reports).toEqual([]);
  });

  test("while those that stand live on, with the answers under way on them", async () => {
    const { options, replace } = WAYS["renamed over"]!(pairs[0]!);
    const waiting: (() => void)[] = [];
    const { url, shown, port } = await serve(options, (req, res) => {
      if (req.url !== "/wait") return void res.end("hello");
      (res as ServerResponse).write("first ");
      waiting.push(() => res.end("last"));
    });
    const identity = { ca: root.ca, checkServerIdentity: () => undefined };
    const session = await http2ConnectTls(url, identity);
    const kept = await tlsClient(port, identity);
    kept.socket.write("GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const answer = http2Request(session, { ":path": "/wait" });
    await eventually(
      () => waiting.length === 2,
      () => "never asked",
    );
    replace(pairs[1]!);
    await becomes(shown, "second");
    for (const finish of waiting) finish();
    expect((await answer).body).toBe("first last");
    await eventually(() => kept.received().endsWith("0\r\n\r\n"), kept.received);
    expect((await http2Request(session, { ":path": "/" })).body).toBe("hello");
    expect(kept.socket.destroyed).toBe(false);
  });
});

describe("what does not fit keeps the last in force, and is reported once", () => {
  test.each<[string, (options: { cert: string; key: string }) => void, RegExp]>([
    ["the key of another", ({ key }) => writeFileSync(key, pairs[1]!.key), /does not belong to/],
    ["half a file", ({ cert }) => writeFileSync(cert, pairs[1]!.cert.slice(0, 200)), /holds no certificate in PEM/],
    ["an empty file", ({ key }) => writeFileSync(key, ""), /holds no private key in PEM/],
    ["no file", ({ cert }) => unlinkSync(cert), /does not exist/],
  ])("%s", async (_, harm, message) => {
    const { options, replace } = WAYS["written over, one after the other"]!(pairs[0]!);
    const { shown, reports } = await serve(options);
    harm(options as { cert: string; key: string });
    await eventually(
      () => reports.length > 0,
      () => "no report",
    );
    expect(await shown()).toBe("first");
    replace(pairs[2]!);
    await becomes(shown, "third");
    expect(reports).toEqual([
      {
        error: expect.objectContaining({ name: "ActuatorError", message: expect.stringMatching(message) }),
        context: "new TLS certificate, the last one stays in force",
      },
    ]);
  });

  test("an expired one is served and reported", async () => {
    const { options, replace } = WAYS["renamed over"]!(pairs[0]!);
    const { reports, port } = await serve(options);
    replace(await root.issue("server", { commonName: "old", validTo: daysFromNow(-1) }));
    await eventually(
      () => reports.length > 0,
      () => "no report",
    );
    expect(reports).toMatchObject([{ error: { reason: "TLS_CERTIFICATE_EXPIRED" }, context: "TLS certificate" }]);
    await expect(tlsClient(port, { ca: root.ca })).rejects.toThrow(/expired/);
  });
});

test("the authorities are read again too", async () => {
  const other = await authority("Another authority");
  const [known, stranger] = await Promise.all([
    root.issue("client"),
    other.issue("client", { commonName: "stranger" }),
  ]);
  const ca = join(newFolder(), "ca.pem");
  writeFileSync(ca, root.ca);
  const say: RequestHandler = (req, res) => void res.end(clientCertificate(req)?.commonName ?? "nobody");
  const { url } = await serve({ ...pairs[0]!, ca, clientCertificate: "request" }, say);
  const identity = { ca: root.ca, checkServerIdentity: () => undefined, agent: false } as const;
  const who = async (pair: KeyPair) => (await httpsRequest(url, { ...identity, ...pair })).body;
  expect([await who(known), await who(stranger)]).toEqual(["orders", "nobody"]);
  writeFileSync(ca, other.ca);
  await becomes(() => who(stranger), "stranger");
  expect(await who(known)).toBe("nobody");
});

test("contents that were given as such are not looked after", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const never = () => expect.unreachable();
  reloadCredentials(pairs[0]!, await readCredentials(pairs[0]!), never, never);
  expect(vi.getTimerCount()).toBe(0);
});

test("the end of the listener ends it", async () => {
  const { options, replace } = WAYS["renamed over"]!(pairs[0]!);
  const { listener, reports } = await serve(options);
  await listener.drain();
  replace({ cert: "broken", key: "broken" });
  // Two looks, as a report takes, would be over by then.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(reports).toEqual([]);
});
