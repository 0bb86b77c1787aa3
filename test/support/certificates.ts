import "reflect-metadata";
import { webcrypto } from "node:crypto";
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type GeneralNameType,
  Name,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
  X509CrlGenerator,
} from "@peculiar/x509";

/** A certificate and its key in PEM format. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** What is asked of an authority. */
export interface Subject {
  readonly commonName?: string;
  readonly names?: readonly { readonly type: GeneralNameType; readonly value: string }[];
  readonly validFrom?: Date;
  readonly validTo?: Date;
}

/** A name, attribute by attribute, with the kind of text that each is written in. */
export type WrittenName = Extract<ConstructorParameters<typeof Name>[0], readonly unknown[]>;

/** An authority that signs for servers and clients. */
export interface Authority {
  /** Its own certificate in PEM format. */
  readonly ca: string;
  issue(use: "server" | "client", subject?: Subject): Promise<KeyPair>;
  /** An authority that this one vouches for. */
  delegate(name: string): Promise<Authority>;
  /**
   * A list in PEM format of certificates that it has revoked; by default to be replaced in a month, and with its name written as
   * in its certificate.
   */
  revoke(certificates: readonly string[], nextUpdate?: Date, name?: WrittenName): Promise<string>;
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const DAY_MS = 86_400_000;

/** Names of this machine, which every server certificate is valid for. */
const LOCAL = [
  { type: "dns", value: "localhost" },
  { type: "ip", value: "127.0.0.1" },
  { type: "ip", value: "::1" },
] as const;

let serial = 0;

/** Makes an authority out of nothing. */
export async function authority(name = "Test authority"): Promise<Authority> {
  const keys = await newKeys();
  const root = await X509CertificateGenerator.createSelfSigned({
    ...envelope({ commonName: name }),
    name: `CN=${name}`,
    keys,
    extensions: [new BasicConstraintsExtension(true, undefined, true)],
  });
  return authorityOf(root, keys);
}

function authorityOf(root: X509Certificate, keys: webcrypto.CryptoKeyPair): Authority {
  return {
    ca: root.toString("pem"),
    async delegate(name) {
      const own = await newKeys();
      const certificate = await X509CertificateGenerator.create({
        ...envelope({}),
        subject: `CN=${name}`,
        issuer: root.subject,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        extensions: [new BasicConstraintsExtension(true, undefined, true)],
      });
      return authorityOf(certificate, own);
    },
    async revoke(certificates, nextUpdate = daysFromNow(30), name) {
      const list = await X509CrlGenerator.create({
        issuer: name === undefined ? root.subject : new Name(name),
        thisUpdate: daysFromNow(-2),
        nextUpdate,
        entries: certificates.map((pem) => ({ serialNumber: new X509Certificate(pem).serialNumber })),
        signingAlgorithm: ALGORITHM,
        signingKey: keys.privateKey,
      });
      return PemConverter.encode(list.rawData, "X509 CRL");
    },
    async issue(use, subject = {}) {
      const own = await newKeys();
      const { commonName = use === "server" ? "localhost" : "orders", names = use === "server" ? LOCAL : [] } = subject;
      const cert: X509Certificate = await X509CertificateGenerator.create({
        ...envelope(subject),
        subject: commonName === "" ? "" : `CN=${commonName}`,
        issuer: root.subject,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        extensions: [
          new BasicConstraintsExtension(false),
          new ExtendedKeyUsageExtension([use === "server" ? ExtendedKeyUsage.serverAuth : ExtendedKeyUsage.clientAuth]),
          ...(names.length === 0 ? [] : [new SubjectAlternativeNameExtension([...names])]),
        ],
      });
      return { cert: cert.toString("pem"), key: await pemOf(own.privateKey) };
    },
  };
}

/** The days before and after which a certificate is not valid any more, or not yet. */
export function daysFromNow(days: number): Date {
  return new Date(Date.now() + days * DAY_MS);
}

function envelope({ validFrom = daysFromNow(-2), validTo = daysFromNow(30) }: Subject) {
  return {
    serialNumber: (++serial).toString(16).padStart(4, "0"),
    notBefore: validFrom,
    notAfter: validTo,
    signingAlgorithm: ALGORITHM,
  };
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return (await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"])) as webcrypto.CryptoKeyPair;
}

async function pemOf(key: webcrypto.CryptoKey): Promise<string> {
  return PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY");
}
