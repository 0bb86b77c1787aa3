/** One value in DER: what kind it is, what it holds, and all of its bytes. */
export interface DerValue {
  readonly tag: number;
  readonly content: Buffer;
  readonly bytes: Buffer;
}

/** The tags that are told apart (X.690 §8, ITU-T X.680 §8.6). */
export const TAG = { integer: 0x02, sequence: 0x30, utcTime: 0x17, generalizedTime: 0x18 } as const;

/**
 * The values that stand one after the other, as in the content of a SEQUENCE.
 *
 * @throws RangeError where they do not end where the bytes do
 */
export function* derValues(bytes: Buffer): Generator<DerValue> {
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes.readUInt8(at);
    const first = bytes.readUInt8(at + 1);
    const wide = first < 0x80 ? 0 : first & 0x7f;
    // The indefinite length of BER is not DER. It looks like a length of no bytes, which `readUIntBE` refuses.
    const length = first < 0x80 ? first : bytes.readUIntBE(at + 2, wide);
    const begin = at + 2 + wide;
    const end = begin + length;
    if (end > bytes.length) throw new RangeError("a value goes on beyond the end");
    yield { tag, content: bytes.subarray(begin, end), bytes: bytes.subarray(at, end) };
    at = end;
  }
}

/**
 * Milliseconds since the epoch of a UTCTime or GeneralizedTime.
 *
 * @throws RangeError for one that is not as RFC 5280 §4.1.2.5 has them
 */
export function derTime({ tag, content }: DerValue): number {
  const text = content.toString("latin1");
  const short = tag === TAG.utcTime;
  const [, year, month, day, hour, minute, second] = (short ? UTC_TIME : GENERALIZED_TIME).exec(text) ?? [];
  const century = !short ? "" : Number(year) < 50 ? "20" : "19";
  const time = Date.parse(`${century}${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(time)) throw new RangeError("it is not a time");
  return time;
}

const UTC_TIME = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/;
const GENERALIZED_TIME = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/;
