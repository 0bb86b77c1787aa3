const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text in UTF-8 that these bytes are; undefined where they are none. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}
