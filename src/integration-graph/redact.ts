const USER_INFO = /:\/\/[^\s/?#]*@/g;
const SECRET_PARAMETER =
  /([?&;](?:[\w-]*(?:password|passwd|pwd|secret|token|signature|credential)|api[_-]?key|sig)=)[^&;\s#]*/gi;
const SECRET_KEY =
  /(?:password|passwd|pwd|secret|token|credentials?|api[_-]?key|private[_-]?key|authorization|cookie)$/i;

/**
 * `text` without what gives access: the user part of every URL in it (RFC 3986 section 3.2.1) goes, and so do the
 * values of query parameters whose names say that they are secret.
 */
export function redact(text: string): string {
  return text.replace(USER_INFO, "://").replace(SECRET_PARAMETER, "$1***");
}

/** Whether text under `key` has to be taken for a credential. */
export function isSecretKey(key: string): boolean {
  return SECRET_KEY.test(key);
}
