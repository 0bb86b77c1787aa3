import "reflect-metadata";
import { webcrypto } from "node:crypto";
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type GeneralNameType,
  PemConverter,
  SubjectAlternativeNameExtension,
  type X509Certificate,
  X509CertificateGenerator,
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

/** An authority that signs for servers and clients. */
export interface Authority {
  /** Its own certificate in PEM format. */
  readonly ca: string;
  issue(use: "server" | "client", subject?: Subject): Promise<KeyPair>;
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
  return {
    ca: root.toString("pem"),
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
