import { execFileSync, spawnSync } from "node:child_process";
import { createPrivateKey } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createListener } from "../../src/server/listener.ts";
import { readCredentials } from "../../src/server/tls-credentials.ts";
import type { TlsOptions } from "../../src/server/tls-options.ts";
import { type Authority, authority, daysFromNow, type KeyPair } from "../support/certificates.ts";
import { requirement } from "../support/requirement.ts";
import { httpsRequest } from "../support/server-tls.ts";

let root: Authority;
let server: KeyPair;
let other: KeyPair;
let revoked: string;

beforeAll(async () => {
  root = await authority();
  [server, other] = await Promise.all([root.issue("server"), root.issue("server")]);
  revoked = await root.revoke([other.cert]);
});

/** Files of these names and contents in a folder that goes when the test ends. */
function files<Names extends string>(contents: Readonly<Record<Names, string | Uint8Array>>): Record<Names, string> {
  const folder = mkdtempSync(join(tmpdir(), "credentials-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const paths = Object.entries<string | Uint8Array>(contents).map(([name, content]) => {
    const path = join(folder, `${name}.pem`);
    writeFileSync(path, content);
    return [name, path];
  });
  return Object.fromEntries(paths);
}

const encrypted = (key: string) =>
  createPrivateKey(key).export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "open sesame" });

describe("what is taken", () => {
  test.each<[string, () => TlsOptions]>([
    ["texts", () => server],
    ["bytes", () => ({ cert: Buffer.from(server.cert), key: new Uint8Array(Buffer.from(server.key)) })],
    ["files", () => files(server)],
    ["a chain", () => ({ ...server, cert: `${server.cert}\n${root.ca}` })],
    ["words before the certificate", () => ({ ...server, cert: `subject=CN = localhost\n${server.cert}` })],
    ["an encrypted key", () => ({ ...server, key: encrypted(server.key).toString(), passphrase: "open sesame" })],
    ["a passphrase that is not needed", () => ({ ...server, passphrase: "open sesame" })],
    ["what they revoked", () => ({ ...server, ca: root.ca, crl: revoked, clientCertificate: "request" })],
    ["several authorities", () => ({ ...server, ca: root.ca + root.ca, clientCertificate: "request" })],
  ])("%s", async (_, options) => {
    const { certificate } = await readCredentials(options());
    expect(certificate.subject).toBe("CN=localhost");
    const listener = createListener((_, res) => void res.end());
    onTestFinished(() => listener.drain({ deadlineMs: 0 }));
    const { url } = await listener.listen({ port: 0, tls: options() });
    expect((await httpsRequest(url, { ca: root.ca, agent: false })).status).toBe(200);
  });
});

describe("what is not, and says which file and why", () => {
  type Bad = [string, () => TlsOptions, { field: string; reason: string; message: RegExp }];
  test.each<Bad>([
    [
      "no such file",
      () => ({ ...server, cert: "/nowhere/tls.crt" }),
      { field: "tls.cert", reason: "TLS_FILE_UNREADABLE", message: /`cert` file \/nowhere\/tls\.crt does not exist$/ },
    ],
    [
      "a file as folder",
      () => ({ ...server, key: "/dev/null/tls.key" }),
      { field: "tls.key", reason: "TLS_FILE_UNREADABLE", message: /`key` file \/dev\/null\/tls\.key does not exist$/ },
    ],
    [
      "a folder",
      () => ({ ...server, ca: "/tmp", clientCertificate: "request" }),
      { field: "tls.ca", reason: "TLS_FILE_UNREADABLE", message: /`ca` file \/tmp cannot be used: it is not a file$/ },
    ],
    [
      "a device",
      () => ({ ...server, key: "/dev/zero" }),
      { field: "tls.key", reason: "TLS_FILE_UNREADABLE", message: /\/dev\/zero cannot be used: it is not a file$/ },
    ],
    [
      "a file without end",
      () => ({ ...server, key: files({ key: Buffer.alloc(1_048_577) }).key }),
      { field: "tls.key", reason: "TLS_FILE_UNREADABLE", message: /it has more than 1048576 bytes$/ },
    ],
    [
      "DER",
      () => ({ ...server, cert: files({ cert: Buffer.from([0x30, 0x82, 1, 2]) }).cert }),
      { field: "tls.cert", reason: "TLS_NOT_PEM", message: /cert\.pem holds no certificate in PEM format$/ },
    ],
    [
      "cert and key exchanged",
      () => ({ cert: files(server).key, key: server.cert }),
      { field: "tls.cert", reason: "TLS_NOT_PEM", message: /key\.pem holds no certificate.*it holds a private key$/ },
    ],
    [
      "a certificate for the key",
      () => ({ ...server, key: files(server).cert }),
      { field: "tls.key", reason: "TLS_NOT_PEM", message: /cert\.pem holds no private key.*it holds a certificate$/ },
    ],
    [
      "a damaged certificate",
      () => ({ ...server, cert: server.cert.replace(/M/, "N") }),
      { field: "tls.cert", reason: "TLS_NOT_PEM", message: /the `cert` option holds a damaged certificate$/ },
    ],
    [
      "a damaged key",
      () => ({ ...server, key: files({ key: server.key.replace(/M/, "N") }).key }),
      { field: "tls.key", reason: "TLS_NOT_PEM", message: /key\.pem holds a damaged private key$/ },
    ],
    [
      "a damaged authority behind a sound one",
      () => ({ ...server, ca: root.ca + root.ca.replace(/M/, "N"), clientCertificate: "request" }),
      { field: "tls.ca", reason: "TLS_NOT_PEM", message: /the `ca` option holds a damaged certificate$/ },
    ],
    [
      "authorities in place of what they revoked",
      () => ({ ...server, ca: root.ca, crl: root.ca, clientCertificate: "request" }),
      { field: "tls.crl", reason: "TLS_NOT_PEM", message: /the `crl` option holds no revocation list in PEM format$/ },
    ],
    [
      "a list that is cut off behind a whole one",
      () => ({ ...server, ca: root.ca, crl: revoked + revoked.slice(0, -30), clientCertificate: "request" }),
      { field: "tls.crl", reason: "TLS_NOT_PEM", message: /the `crl` option holds a damaged revocation list$/ },
    ],
    [
      "a damaged list",
      () => ({ ...server, ca: root.ca, crl: revoked.replace(/M/, "N"), clientCertificate: "request" }),
      { field: "tls.crl", reason: "TLS_NOT_PEM", message: /the `crl` option holds a damaged revocation list$/ },
    ],
    [
      "the key of another",
      () => ({ ...files({ cert: server.cert }), key: other.key }),
      {
        field: "tls.key",
        reason: "TLS_KEY_MISMATCH",
        message: /`key` option does not belong to the `cert` file .*cert\.pem$/,
      },
    ],
    [
      "an encrypted key without passphrase",
      () => ({ ...server, key: encrypted(server.key).toString() }),
      { field: "tls.passphrase", reason: "TLS_PASSPHRASE", message: /is encrypted, and there is no `passphrase`$/ },
    ],
    [
      "an encrypted key with another passphrase",
      () => ({ ...server, key: encrypted(server.key).toString(), passphrase: "open barley" }),
      {
        field: "tls.passphrase",
        reason: "TLS_PASSPHRASE",
        message: /the `passphrase` does not open the `key` option$/,
      },
    ],
  ])("%s", async (_, options, { field, reason, message }) => {
    const listener = createListener(() => {});
    onTestFinished(() => listener.drain({ deadlineMs: 0 }));
    const error = await listener.listen({ port: 0, tls: options() }).catch((error) => error);
    expect(error).toMatchObject({ name: "ActuatorError", reason, metadata: { field } });
    expect(error.message).toMatch(message);
    expect(error.message).not.toMatch(/BEGIN|sesame|barley/);
    // Another attempt is open.
    await listener.listen({ port: 0, tls: server });
  });

  test.runIf(requirement("openssl", spawnSync("openssl", ["version"]).status === 0))("a key too weak", async () => {
    const folder = mkdtempSync(join(tmpdir(), "weak-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    const subject = ["-subj", "/CN=weak", "-days", "2"];
    const args = ["req", "-x509", "-newkey", "rsa:1024", "-nodes", "-keyout", key, "-out", cert, ...subject];
    execFileSync("openssl", args, { stdio: "ignore" });
    await expect(readCredentials({ cert, key })).rejects.toMatchObject({
      reason: "TLS_REFUSED",
      message: expect.stringMatching(/ee key too small/),
      metadata: { field: "tls.cert" },
    });
  });
});

describe("a certificate out of its time is served and reported", () => {
  test.each([
    { subject: { validTo: daysFromNow(-1) }, reason: "TLS_CERTIFICATE_EXPIRED", message: /not valid any more since / },
    {
      subject: { validFrom: daysFromNow(1) },
      reason: "TLS_CERTIFICATE_NOT_YET_VALID",
      message: /not valid before /,
    },
  ])("$reason", async ({ subject, reason, message }) => {
    const pair = await root.issue("server", subject);
    const reports: unknown[] = [];
    const listener = createListener((_, res) => void res.end(), { onError: (error) => reports.push(error) });
    onTestFinished(() => listener.drain({ deadlineMs: 0 }));
    const { url } = await listener.listen({ port: 0, tls: pair });
    expect((await httpsRequest(url, { rejectUnauthorized: false, agent: false })).status).toBe(200);
    expect(reports).toEqual([expect.objectContaining({ reason, message: expect.stringMatching(message) })]);
  });
});
