/** What the header `Authorization` carries, where it is one of the two schemes that are understood here. */
export interface Credentials {
  readonly scheme: "bearer" | "basic";
  /** The token: all of Bearer, the password of Basic. Who the user of Basic is says nothing, as the token has a name of its own. */
  readonly token: string;
}

/** The longest value that is looked at. */
const MAX_LENGTH = 8_192;

/** `token68` of RFC 9110 §11.2. */
const HEADER = /^(bearer|basic) +([\w.~+/-]+=*)$/i;

/** Reads the value of the header `Authorization` (RFC 6750 §2.1, RFC 7617 §2); undefined for anything else. */
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
  // Node takes whatever looks like base64; two ways to write one thing are one too many.
  if (bytes.toString("base64") !== base64) return undefined;
  const pair = bytes.toString("latin1");
  const colon = pair.indexOf(":");
  return colon === -1 ? undefined : pair.slice(colon + 1);
}
