/**
 * Reads and writes the numbers and strings that Spring Session stores in Redis, by Java's serialization (its default) or by
 * Jackson's JSON. Nothing else is read, and no object is made of what is read.
 *
 * Java: https://docs.oracle.com/en/java/javase/17/docs/specs/serialization/protocol.html, where a boxed number ends in
 * its bytes after a constant prefix.
 */
const STREAM = Buffer.from("aced0005", "hex");
const STRING = Buffer.concat([STREAM, Buffer.from("t")]);
const LONG = boxed("java.lang.Long", "3b8be490cc8f23df", "J");
const INTEGER = boxed("java.lang.Integer", "12e2a0a4f7818738", "I");

/** Jackson writes a number as it is or, if configured to write the types of all values, with its class. */
const JSON_NUMBER = /^(?:(-?\d{1,19})|\["java\.lang\.(?:Integer|Long)",(-?\d{1,19})\])$/;
const LONGEST_JSON_NUMBER = 48;

/** Returns the number; undefined for anything else, or another serializer. */
export function numberOf(value: Buffer): number | undefined {
  if (isBoxed(value, LONG, 8)) return Number(value.readBigInt64BE(LONG.length));
  if (isBoxed(value, INTEGER, 4)) return value.readInt32BE(INTEGER.length);
  const [, bare, typed] = jsonNumber(value) ?? [];
  const digits = bare ?? typed;
  return digits === undefined ? undefined : Number(digits);
}

/** Returns 0, written in the same way as `value`; undefined if `value` is not a number. */
export function zeroLike(value: Buffer): Buffer | undefined {
  if (isBoxed(value, LONG, 8)) return Buffer.concat([LONG, Buffer.alloc(8)]);
  if (isBoxed(value, INTEGER, 4)) return Buffer.concat([INTEGER, Buffer.alloc(4)]);
  const text = jsonNumber(value)?.[0];
  return text === undefined ? undefined : Buffer.from(text.replace(/-?\d+/, "0"));
}

/** Returns the string; undefined for anything else, or another serializer. */
export function textOf(value: Buffer): string | undefined {
  if (value.subarray(0, STRING.length).equals(STRING)) {
    const bytes = value.subarray(STRING.length + 2);
    const whole = value.length >= STRING.length + 2 && value.readUInt16BE(STRING.length) === bytes.length;
    return whole ? modifiedUtf8Of(bytes) : undefined;
  }
  if (value[0] !== 0x22) return undefined;
  try {
    return JSON.parse(value.toString()) as string;
  } catch {
    return undefined;
  }
}

/** Returns the string, of at most 21,845 UTF-16 code units, in each way in which it may be written. */
export function writingsOf(text: string): readonly Buffer[] {
  const bytes = modifiedUtf8(text);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return [Buffer.concat([STRING, length, bytes]), Buffer.from(JSON.stringify(text))];
}

/** Returns the prefix of a TC_OBJECT of a class with the one field `value`, and of its superclass Number. */
function boxed(name: string, serialVersion: string, type: string): Buffer {
  return Buffer.concat([
    STREAM,
    Buffer.from("sr"),
    counted(name),
    Buffer.from(`${serialVersion}020001`, "hex"),
    Buffer.from(type),
    counted("value"),
    Buffer.from("xr"),
    counted("java.lang.Number"),
    Buffer.from("86ac951d0b94e08b020000", "hex"),
    Buffer.from("xp"),
  ]);
}

function counted(text: string): Buffer {
  return Buffer.concat([Buffer.from([0, text.length]), Buffer.from(text)]);
}

function isBoxed(value: Buffer, prefix: Buffer, size: number): boolean {
  return value.length === prefix.length + size && value.subarray(0, prefix.length).equals(prefix);
}

function jsonNumber(value: Buffer): RegExpExecArray | null {
  return value.length > LONGEST_JSON_NUMBER ? null : JSON_NUMBER.exec(value.toString("latin1"));
}

/** Encodes in modified UTF-8 (`DataInput`): each UTF-16 code unit by itself, and 0 in two bytes. */
function modifiedUtf8(text: string): Buffer {
  const bytes: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit !== 0 && unit < 0x80) bytes.push(unit);
    else if (unit < 0x800) bytes.push(0xc0 | (unit >> 6), 0x80 | (unit & 0x3f));
    else bytes.push(0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f));
  }
  return Buffer.from(bytes);
}

function modifiedUtf8Of(bytes: Buffer): string | undefined {
  const units: number[] = [];
  for (let i = 0; i < bytes.length; ) {
    const first = bytes[i]!;
    const size = first < 0x80 ? 1 : first >> 5 === 0b110 ? 2 : first >> 4 === 0b1110 ? 3 : 0;
    if (size === 0 || i + size > bytes.length) return undefined;
    let unit = size === 1 ? first : first & (0xff >> (size + 1));
    for (const next of bytes.subarray(i + 1, i + size)) {
      if (next >> 6 !== 0b10) return undefined;
      unit = (unit << 6) | (next & 0x3f);
    }
    units.push(unit);
    i += size;
  }
  return Buffer.from(Uint16Array.from(units).buffer).toString("utf16le");
}
