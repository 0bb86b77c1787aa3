/** What replies go to; all of them are one node. */
export const INBOXES = "_INBOX.*";

/** What the library and the broker say to each other: services asked what they do, JetStream's requests and acknowledgements. */
const CONTROL = ["$SRV.", "$JS.", "$SYS.", "_R_."];

export function isControl(subject: string): boolean {
  // "$" or "_": asked for every message.
  const first = subject.charCodeAt(0);
  if (first !== 36 && first !== 95) return false;
  return CONTROL.some((prefix) => subject.startsWith(prefix));
}

/** Whether replies come by a subject to a connection whose inboxes begin with `prefix`. */
export function isInbox(subject: string, prefix: unknown): boolean {
  return subject.startsWith("_INBOX.") || (typeof prefix === "string" && subject.startsWith(`${prefix}.`));
}

export function hasWildcard(subject: string): boolean {
  return subject.split(".").some((token) => token === "*" || token === ">");
}

/** Whether a subject is one of those that another one, with wildcards, stands for. */
export function matches(wildcard: string, subject: string): boolean {
  const [wanted, given] = [wildcard.split("."), subject.split(".")];
  if (wanted.at(-1) === ">") return given.length >= wanted.length && fits(wanted.slice(0, -1), given);
  return wanted.length === given.length && fits(wanted, given);
}

function fits(wanted: readonly string[], given: readonly string[]): boolean {
  return wanted.every((token, index) => token === "*" || token === given[index]);
}

/** A token that the library made up, such as every inbox has: with all after it, it is shown as `*`. */
const MADE_UP = /^[0-9A-Za-z]{22}$/;

/** A subject without what was made up for one connection, and without the keys of a key-value bucket or an object store. */
export function withoutMadeUp(subject: string): string {
  const tokens = subject.split(".");
  if ((tokens[0] === "$KV" || tokens[0] === "$O") && tokens.length > 2) return `${tokens[0]}.${tokens[1]}.>`;
  const at = tokens.findIndex((token) => MADE_UP.test(token) && /[0-9]/.test(token) && /[A-Za-z]/.test(token));
  return at < 0 ? subject : [...tokens.slice(0, at), "*"].join(".");
}
