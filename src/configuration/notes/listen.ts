import type { ListenOptions } from "../../server/listen-options.ts";
import type { TlsOptions } from "../../server/tls-options.ts";
import type { Notes } from "../setting.ts";

/** The port that the command line calls where nobody says another. */
export const DEFAULT_PORT = 9001;

const TLS_NOTES: Notes<TlsOptions> = {
  cert: { description: "The server's certificate and those between it and its root: a PEM file.", path: "read" },
  key: { description: "The private key of that certificate: a PEM file.", path: "read" },
  passphrase: { description: "Opens the key, where it is encrypted.", secret: true },
  ca: { description: "The authorities that client certificates are verified against: a PEM file.", path: "read" },
  crl: { description: "What those authorities have revoked (CRL): a PEM file. OCSP is not asked.", path: "read" },
  clientCertificate: {
    description: 'Whether clients show a certificate: "none", "request" or "require".',
    default: "none",
    schema: { enum: ["none", "request", "require"] },
  },
  minVersion: {
    description: "The oldest version of TLS.",
    default: "TLSv1.2",
    schema: { enum: ["TLSv1.2", "TLSv1.3"] },
  },
};

/** What is said of the options of listening. */
export const LISTEN_NOTES: Notes<ListenOptions> = {
  port: {
    description: "TCP port; 0 for any free one.",
    default: DEFAULT_PORT,
    schema: { type: "integer", maximum: 65_535 },
  },
  host: { description: "The address to listen on. One that others reach needs access control.", default: "127.0.0.1" },
  path: { description: "The path of a Unix socket, instead of port and host.", path: "written" },
  mode: { description: "The permissions of that socket, in octal digits. Default: 0600." },
  tls: { description: "TLS, and nothing else.", notes: TLS_NOTES },
};
