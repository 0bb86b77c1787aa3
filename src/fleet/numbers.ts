/** Far beyond any clock, and far below what a number cannot count on from. */
const MAX_GENERATION = 2 ** 52;
/** The end of the year 9999, the last time that a timestamp of Protocol Buffers can have. */
const MAX_TIME = 253_402_300_799_999;

/** Whether a value can be a generation. */
export function isGeneration(value: unknown): value is number {
  return isCount(value) && value <= MAX_GENERATION;
}

/** Whether a value can be a time in milliseconds since the epoch. */
export function isTime(value: unknown): value is number {
  return isCount(value) && value <= MAX_TIME;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
