import { readFileSync, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { SettingFault } from "./fault.ts";

/** More bytes than any key, password or certificate has. */
const MAX_BYTES = 1024 * 1024;
const REFERENCE = /^\$\{file:([^}]+)\}$/;

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes UTF-8; undefined if the bytes are not. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Reads a file that holds a secret, without the line break at its end.
 *
 * @throws SettingFault that names the file, but not its content.
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
  // Bytes that are not text would all become the same character, and a key made of them easy to guess.
  if (text === undefined)
    throw new SettingFault(`the file ${file} is not text in UTF-8: write keys in hexadecimal or Base64`);
  const content = text.replace(/\r?\n$/, "");
  if (content === "") throw new SettingFault(`the file ${file} is empty`);
  return content;
}

/** Replaces each string `${file:…}`, at any depth, by the content of that file; tells whether there was one. */
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
