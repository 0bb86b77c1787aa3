/** A process, or one thread of it, with a socket of its own. */
export interface Place {
  readonly pid: number;
  /** The thread of a worker; 0 is the main thread. */
  readonly thread: number;
}

/** How a process, or a thread of it, is written: `4711`, or `4711-2`. */
export function placeText({ pid, thread }: Place): string {
  return thread === 0 ? `${pid}` : `${pid}-${thread}`;
}

/** Reads what {@link placeText} writes; undefined for anything else. */
export function placeFromText(text: string): Place | undefined {
  const found = /^([1-9]\d{0,9})(?:-([1-9]\d{0,9}))?$/.exec(text);
  return found === null ? undefined : { pid: Number(found[1]), thread: Number(found[2] ?? 0) };
}

const ENDING = ".sock";

/** The name of the socket of a process: `4711.sock`, or `4711-2.sock` of its thread 2. */
export function socketName(place: Place): string {
  return `${placeText(place)}${ENDING}`;
}

/** Whose socket has this name; undefined if it is none of ours. */
export function placeOf(name: string): Place | undefined {
  return name.endsWith(ENDING) ? placeFromText(name.slice(0, -ENDING.length)) : undefined;
}
