import { readFileSync, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import type { Entry } from "./entry.ts";
import { SettingFault } from "./fault.ts";
import { textOf } from "./text.ts";

/** More bytes than any key, password or certificate has. */
const MAX_BYTES = 1024 * 1024;
const REFERENCE = /^\$\{file:([^}]+)\}$/;
const HIDDEN = "<hidden>";
/** Names of members that are not shown, wherever they stand. */
const SECRET_NAME = /token|password|passphrase|passwd|pwd|secret|credential|authorization|key$/i;

/**
 * The content of a file that holds a secret, without the line break at its end.
 *
 * @throws SettingFault that names the file and not its content.
 */
export function secretFrom(path: string, folder: string | undefined): string {
  const file = isAbsolute(path) || folder === undefined ? path : resolve(folder, path);
  let bytes: Buffer;
  try {
    if (statSync(file).size > MAX_BYTES) throw new Error("it is too large");
    bytes = readFileSync(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new SettingFault(`the file ${file} cannot be read (${code ?? message})`);
  }
  const text = textOf(bytes);
  // Bytes that are no text would all become the same character, and a key of them easy to guess.
  if (text === undefined)
    throw new SettingFault(`the file ${file} is no text in UTF-8: write keys in hexadecimal or Base64`);
  const content = text.replace(/\r?\n$/, "");
  if (content === "") throw new SettingFault(`the file ${file} is empty`);
  return content;
}

/** Puts the content of a file in the place of each text that is `${file:…}`, however deep; tells whether there was one. */
export function withReferences(value: unknown, folder: string | undefined): { value: unknown; concealed: boolean } {
  let concealed = false;
  const replaced = (value: unknown): unknown => {
    if (typeof value === "string") {
      const [, path] = REFERENCE.exec(value) ?? [];
      if (path === undefined) return value;
      concealed = true;
      return secretFrom(path, folder);
    }
    if (Array.isArray(value)) return value.map(replaced);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replaced(member)]));
  };
  return { value: replaced(value), concealed };
}

/** A value as it may be shown to whoever asks what is configured. */
export function shown({ setting, value, concealed }: Pick<Entry, "setting" | "value" | "concealed">): unknown {
  if (setting.secret === "url" && typeof value === "string") return withoutCredentials(value);
  if (setting.secret !== undefined || (concealed && typeof value !== "object")) return HIDDEN;
  return redacted(value, concealed === true);
}

function redacted(value: unknown, concealed: boolean): unknown {
  if (typeof value === "string") return value.includes("-----BEGIN") ? HIDDEN : withoutCredentials(value);
  if (Array.isArray(value)) return value.map((entry) => redacted(entry, concealed));
  if (typeof value === "function") return "<function>";
  if (typeof value !== "object" || value === null) return value;
  if (Object.getPrototypeOf(value) !== null && Object.getPrototypeOf(value) !== Object.prototype) return "<object>";
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const hide = typeof member === "string" && (SECRET_NAME.test(name) || concealed);
      return [name, hide && name !== "url" ? HIDDEN : redacted(member, concealed)];
    }),
  );
}

/** A URL without user and password, and without a query, where some drivers take a password too. Other texts stay. */
function withoutCredentials(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text;
  const url = URL.parse(text);
  // A password with a character that should have been encoded ends up in a path or behind a #.
  if (url === null || url.hash !== "" || /@/.test(url.pathname)) return HIDDEN;
  if (url.username === "" && url.password === "" && url.search === "") return text;
  const user = url.username === "" && url.password === "" ? "" : "***@";
  return `${url.protocol}//${user}${url.host}${url.pathname}${url.search === "" ? "" : "?***"}`;
}
