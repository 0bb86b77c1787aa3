/** Characters that a terminal obeys or a reader cannot see: controls, formats such as bidirectional overrides, separators, lone surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * Escapes in text from elsewhere, such as `\u001b`, every character that could move the cursor, change colours, end the line or reorder
 * it: a caller may write a reason or a name, but not on the terminal of the operator who reads it.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escaped);
}

/** JSON on one line or, with `indent`, on several; what {@link printable} escapes is escaped here as JSON does it. */
export function printableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(/[^\n\P{C}]|[\p{Zl}\p{Zp}]/gu, escaped);
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
    .join("");
}
