import type { Client } from "@connectrpc/connect";
import { durationToText } from "../common/duration.ts";
import { printable } from "../common/printable.ts";
import type { FleetLevel, FleetService } from "../gen/actuator/v3/fleet_pb.ts";
import { levelToProto } from "../http/rpc/logger-proto.ts";
import type { Level } from "../loggers/level.ts";
import { ROOT } from "../loggers/name.ts";
import { ifAllowed } from "./failure.ts";
import { MAX_NAMES } from "./loggers-tail.ts";
import { serverName } from "./name-filter.ts";
import { listText, note } from "./output.ts";
import { polled } from "./polled.ts";

/** A level that a tail raises in the fleet: its stream does not say when it is set and restored, but the fleet's levels do. */
export class FleetRaise {
  readonly #client: Client<typeof FleetService>;
  readonly #names: readonly string[];
  readonly #level: Level;
  /** That of the fleet before. */
  readonly #generation: bigint;
  readonly #stopping = new AbortController();
  #saying: Promise<void> | undefined;
  #held: readonly FleetLevel[] = [];

  private constructor(client: Client<typeof FleetService>, names: readonly string[], level: Level, generation: bigint) {
    this.#client = client;
    this.#names = names.length === 0 ? [ROOT] : names.map((name) => serverName(name.replace(/\.\*$/, "")));
    this.#level = level;
    this.#generation = generation;
  }

  /** Expects a level that is raised from now on. Undefined if the caller may not read the levels of the fleet. */
  static async expected(
    client: Client<typeof FleetService>,
    names: readonly string[],
    level: Level,
    signal: AbortSignal,
  ): Promise<FleetRaise | undefined> {
    const before = await ifAllowed(client.listFleetLevels({}, { signal }));
    return before && new FleetRaise(client, names, level, before.generation);
  }

  /** Notes that it is set, as soon as it is. `life` is how long it lasts at most, in milliseconds. */
  sayRaised(life: number | undefined): void {
    const levels = async () => {
      const found = await this.#levels();
      return found.length === 0 ? undefined : found;
    };
    const say = (held: readonly FleetLevel[] | undefined) => {
      if (held === undefined) return;
      this.#held = held;
      const until = `${life === undefined ? "" : `for ${durationToText(life)} or `}until Ctrl-C`;
      const on = printable(held[0]!.selector) || "all instances";
      note(`Raised to ${this.#level} ${until} on ${on}: ${this.#text}`);
    };
    this.#saying = polled(levels, this.#stopping.signal).then(say, () => undefined);
  }

  /** It is over before its stream. */
  end(): void {
    this.#stopping.abort();
    this.#held = [];
  }

  /** Notes that it is restored, as soon as it is. */
  async sayRestored(): Promise<void> {
    this.#stopping.abort();
    await this.#saying;
    if (this.#held.length === 0) return;
    const generations = this.#held.map(({ generation }) => generation);
    const isRestored = await polled(async () => {
      return (await this.#levels()).every(({ generation }) => !generations.includes(generation)) || undefined;
    }).catch(() => undefined);
    const isSoon = `Released ${this.#text}; the fleet restores it within 30 seconds.`;
    note(isRestored ? `Restored ${this.#text}: each instance is as it was before.` : isSoon);
  }

  get #text(): string {
    return listText(
      this.#held.map(({ name }) => printable(name)),
      MAX_NAMES,
    );
  }

  async #levels(): Promise<readonly FleetLevel[]> {
    const { levels } = await this.#client.listFleetLevels({});
    return levels.filter(
      ({ name, level, generation, override, canaryId }) =>
        generation > this.#generation &&
        override?.held === true &&
        canaryId === "" &&
        level === levelToProto(this.#level) &&
        this.#names.includes(name),
    );
  }
}
