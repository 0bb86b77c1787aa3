/** A process, or one thread of it, with a socket of its own. */
export interface Place {
  readonly pid: number;
  /** The thread of a worker; 0 is the main thread. */
  readonly thread: number;
}

/** The name of the socket of a process: `4711.sock`, or `4711-2.sock` of its thread 2. */
export function socketName({ pid, thread }: Place): string {
  return thread === 0 ? `${pid}.sock` : `${pid}-${thread}.sock`;
}

/** Whose socket has this name; undefined if it is none of ours. */
export function placeOf(name: string): Place | undefined {
  const found = /^([1-9]\d{0,9})(?:-([1-9]\d{0,9}))?\.sock$/.exec(name);
  return found === null ? undefined : { pid: Number(found[1]), thread: Number(found[2] ?? 0) };
}
