import { LatestMap } from "./latest-map.ts";

/** When this process first saw sessions of which no creation time can be read: the last 10,000 of them. */
export class FirstSeen {
  readonly #timeById = new LatestMap<string, number>();

  of(id: string, now: number): number {
    const time = this.#timeById.get(id) ?? now;
    this.#timeById.set(id, time);
    return time;
  }
}
