/**
 * A session as the in-memory store keeps it. There may be very many: an entry knows its neighbours itself, so that no list
 * takes room of its own. Times are milliseconds since the epoch.
 */
export class MemoryEntry {
  readonly id: string;
  readonly username: string | undefined;
  readonly attributeNames: readonly string[];
  readonly creationTime: number;
  readonly firstSeenTime: number;
  lastAccessedTime: number;
  /** Whole seconds; negative: never expires. */
  readonly maxInactiveInterval: number;
  /** Neighbours in the order of access. */
  newer: MemoryEntry | undefined = undefined;
  older: MemoryEntry | undefined = undefined;
  /** Neighbours among the sessions of the same user. */
  nextOfUser: MemoryEntry | undefined = undefined;
  previousOfUser: MemoryEntry | undefined = undefined;

  constructor(details: Omit<MemoryEntry, "newer" | "older" | "nextOfUser" | "previousOfUser" | "expiryTime">) {
    this.id = details.id;
    this.username = details.username;
    this.attributeNames = details.attributeNames;
    this.creationTime = details.creationTime;
    this.firstSeenTime = details.firstSeenTime;
    this.lastAccessedTime = details.lastAccessedTime;
    this.maxInactiveInterval = details.maxInactiveInterval;
  }

  get expiryTime(): number {
    if (this.maxInactiveInterval < 0) return Number.POSITIVE_INFINITY;
    return this.lastAccessedTime + this.maxInactiveInterval * 1000;
  }
}
