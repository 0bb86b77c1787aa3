import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { type FleetChange, FleetService, GetFleetChangeResponseSchema } from "../gen/actuator/v3/fleet_pb.ts";
import { type Connection, printJson } from "./connection.ts";
import { CliError, EXIT } from "./error.ts";
import { countApplying, exitCodeOf, lastsText, noteStatuses, printStatuses } from "./fleet-status.ts";
import { Interruption } from "./interruption.ts";
import { countText, note, StatusLine } from "./output.ts";

/** After it an instance that has said nothing is gone. */
const PATIENCE_MS = 15_000;
/** A terminal shows what the command waits for if it takes longer. */
const QUIET_MS = 1_000;

/**
 * Waits until every instance has said how far it is with a change, and shows it. Returns the exit code: that of the signal if one arrived.
 *
 * @param what was done, such as `orders debug`
 */
export async function follow(
  connection: Connection,
  generation: bigint,
  what: string,
  { json = false }: { readonly json?: boolean },
): Promise<number> {
  const waiting = new Waiting();
  const interruption = new Interruption();
  const end = AbortSignal.any([interruption.signal, AbortSignal.timeout(PATIENCE_MS)]);
  let latest: FleetChange | undefined;
  const sayHas = (life: string) => {
    if (!json) note(`${what}: the fleet has it${life}, generation ${generation}`);
  };
  try {
    const changes = connection(FleetService).watchFleetChange({ generation }, { signal: end, timeoutMs: 0 });
    for await (const { event } of changes) {
      if (event.case !== "change") continue;
      const isFirst = latest === undefined;
      latest = event.value;
      waiting.count = countApplying(latest);
      if (isFirst) waiting.pause(() => sayHas(lifeText(event.value)));
    }
  } catch (error) {
    waiting.close();
    if (latest === undefined) sayHas("");
    if (ConnectError.from(error).code === Code.NotFound) {
      note("A later change has replaced it already.");
      return EXIT.ok;
    }
    if (!end.aborted) throw error;
  } finally {
    waiting.close();
    interruption.close();
  }
  if (interruption.exitCode !== undefined) {
    noteKept(generation, latest);
    return interruption.exitCode;
  }
  if (latest === undefined) {
    throw new CliError(EXIT.unreachable, "the fleet has the change, but now its engine does not answer");
  }
  if (!json) printStatuses(latest);
  else printJson(GetFleetChangeResponseSchema, create(GetFleetChangeResponseSchema, { change: latest }));
  noteStatuses(latest);
  return exitCodeOf(latest);
}

/** Notes that a change outlives the command that made it. */
export function noteKept(generation: bigint, change: FleetChange | undefined): void {
  const kept = change?.level?.level ? "level" : "change";
  note(`The fleet keeps the ${kept}. See how far it is: connect-actuator fleet status ${generation}.`);
}

function lifeText({ level }: FleetChange): string {
  return level?.level ? ` ${lastsText(level)}` : "";
}

/** Shows on a terminal how many instances the command waits for. */
class Waiting {
  /** Undefined: it is not known yet. */
  count: number | undefined;
  #line: StatusLine | undefined;
  readonly #timer = setTimeout(() => this.#open(), QUIET_MS);

  /** Writes something else in between. */
  pause(write: () => void): void {
    this.#line?.close();
    write();
    if (this.#line !== undefined) this.#open();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#line?.close();
  }

  #open(): void {
    this.#line = new StatusLine(() => {
      return `waiting for ${this.count === undefined ? "the fleet" : countText(this.count, "instance")}; Ctrl-C leaves`;
    });
  }
}
