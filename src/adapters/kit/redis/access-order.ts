const ACCESSES_PER_MILLISECOND = 1024;
/** Forty bits: no session was used in the first days of 1970. */
const UNKNOWN_BELOW = 2 ** 40;

/**
 * The score of an access. Few sessions have the same one, since a page that begins among such ones has to pass them all.
 * Sessions whose last access is not known come last, in an order of their own.
 */
export function accessScore(accessedTime: number | undefined, digest: string): number {
  if (accessedTime === undefined) return Number.parseInt(digest.slice(0, 10), 16);
  return Math.round(accessedTime) * ACCESSES_PER_MILLISECOND + (Number.parseInt(digest.slice(0, 3), 16) % 1024);
}

/** The time in a score; undefined: it stands for no access. */
export function accessOfScore(score: number): number | undefined {
  return score < UNKNOWN_BELOW ? undefined : Math.floor(score / ACCESSES_PER_MILLISECOND);
}

/** A place in the order of last accesses. */
export interface AccessPosition {
  readonly id: string;
  readonly score: number;
}

/** The place that `positionOf` made this of. */
export function accessAt(position: string): AccessPosition {
  const [, score, id] = /^(\S+) (.+)$/s.exec(position) ?? [];
  return { score: Number(score), id: id ?? "" };
}

/** The place as a text, which holds the id. */
export function positionOf(id: string, score: number): string {
  return `${score} ${id}`;
}

/**
 * Whether a member comes after the place, the newest being first. Redis has members of the same score in the order of their
 * bytes, here backwards.
 */
export function follows([id, score]: readonly [string, number], after: AccessPosition): boolean {
  return score < after.score || (score === after.score && Buffer.compare(Buffer.from(id), Buffer.from(after.id)) < 0);
}
