import { ActuatorError } from "../common/error.ts";

/** What the header `Authorization` carries, if it has one of the two supported schemes. */
export interface Credentials {
  readonly scheme: "bearer" | "basic";
  /** The token: the whole value of Bearer, the password of Basic. The user name of Basic is ignored: a token has its own name. */
  readonly token: string;
}

/** The longest value that is parsed. */
const MAX_LENGTH = 8_192;

/** `token68` of RFC 9110 §11.2. */
const HEADER = /^(bearer|basic) +([\w.~+/-]+=*)$/i;

/** Parses the value of the header `Authorization` (RFC 6750 §2.1, RFC 7617 §2). Returns undefined for anything else. */
export function parseAuthorization(value: string): Credentials | undefined {
  if (value.length > MAX_LENGTH) return undefined;
  const match = HEADER.exec(value);
  if (match === null) return undefined;
  const [, scheme, text] = match;
  if (scheme!.toLowerCase() === "bearer") return { scheme: "bearer", token: text! };
  const token = passwordOf(text!);
  return token === undefined ? undefined : { scheme: "basic", token };
}

function passwordOf(base64: string): string | undefined {
  const bytes = Buffer.from(base64, "base64");
  // Node.js decodes leniently; accept only the one canonical form.
  if (bytes.toString("base64") !== base64) return undefined;
  const pair = bytes.toString("latin1");
  const colon = pair.indexOf(":");
  return colon === -1 ? undefined : pair.slice(colon + 1);
}

/** The reason of {@link unauthenticated} if the request had no credentials that could be right or wrong. */
export const CREDENTIALS_MISSING = "CREDENTIALS_MISSING";

/** The error for credentials that are missing or wrong. The message must not repeat any part of them. */
export function unauthenticated(message: string, reason = "CREDENTIALS_INVALID"): ActuatorError {
  return new ActuatorError("UNAUTHENTICATED", reason, message);
}
