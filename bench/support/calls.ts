import { once } from "node:events";
import { Child } from "./child.ts";
import { environment } from "./environment.ts";
import { median } from "./median.ts";
import { printTable } from "./table.ts";

/** What an application does with its loggers, with an adapter attached to them and without. */
export interface CallComparison<Subject> {
  /** The libraries whose versions are printed. The first one heads the table. */
  readonly libraries: readonly [string, ...string[]];
  /**
   * Sets the application up for the call with this name, in a process of its own, so that libraries may keep global state.
   */
  subject(attached: boolean, name: string): Subject | Promise<Subject>;
  readonly calls: readonly Call<Subject>[];
  /**
   * For libraries that write later than they are called: waits until all that was written has arrived. It is part of the
   * time of a round.
   */
  settle?(subject: Subject): Promise<unknown>;
}

/** What is measured, under its name, and how many times a round repeats it: for some 10 ms. */
export type Call<Subject> = readonly [name: string, count: number, call: (subject: Subject) => unknown];

const warmUpRounds = 8;
const rounds = 15;
/** Two processes with the same program differ by where their code comes to lie; several pairs of them even it out. */
const pairs = 3;

/**
 * Measures each call in an application with the adapter attached beside one without it, and prints a table. Rounds alternate
 * between the two. A ratio is the bare application's time by the attached one's, taken within each round, so 1.00 means that
 * nothing is added and 2.00 that the call takes half the time. Each call is measured in processes of its own: a disabled call
 * of a bare library may train the compiler on code that an enabled one runs, and that of an attached one not.
 *
 * An argument of the command, such as `pino`, measures only the calls whose names contain it.
 *
 * To be called once by a benchmark's main module, which runs again, as it is, in the process of each subject.
 */
export async function compareCalls<Subject>(comparison: CallComparison<Subject>): Promise<void> {
  const role = process.argv[2];
  if (process.send !== undefined && (role === "attached" || role === "bare")) {
    const [name] = comparison.calls[Number(process.argv[3])]!;
    await answer(comparison, await comparison.subject(role === "attached", name));
    return;
  }
  console.log(environment(...comparison.libraries));
  const nanoseconds = (values: readonly number[]) => `${median(values).toFixed(1)} ns`;
  const rows: (readonly string[])[] = [];
  for (const [call, [name]] of comparison.calls.entries()) {
    if (!name.includes(role ?? "")) continue;
    const found: Round[] = [];
    for (let pair = 0; pair < pairs; pair++) found.push(...(await measurePair(call)));
    rows.push([
      name,
      nanoseconds(found.map(({ attached }) => attached)),
      nanoseconds(found.map(({ bare }) => bare)),
      median(found.map(({ attached, bare }) => bare / attached)).toFixed(2),
    ]);
  }
  printTable([comparison.libraries[0], "attached", "bare", "ratio"], rows);
}

/** Nanoseconds of one call. */
interface Round {
  readonly attached: number;
  readonly bare: number;
}

async function measurePair(call: number): Promise<readonly Round[]> {
  const main = process.argv[1]!;
  const [attached, bare] = ["attached", "bare"].map((role) => new Child(main, { args: [role, String(call)] })) as [
    Child,
    Child,
  ];
  try {
    const measured: Round[] = [];
    for (let round = 0; round < warmUpRounds + rounds; round++) {
      const first = round % 2 === 0 ? attached : bare;
      const one = await first.ask<number>({ call });
      const other = await (first === attached ? bare : attached).ask<number>({ call });
      if (round < warmUpRounds) continue;
      measured.push(first === attached ? { attached: one, bare: other } : { attached: other, bare: one });
    }
    return measured;
  } finally {
    await Promise.all([attached.end(), bare.end()]);
  }
}

/** Runs a round whenever the benchmark asks for one. */
async function answer<Subject>({ calls, settle }: CallComparison<Subject>, subject: Subject): Promise<void> {
  const loops = calls.map(([, count, call]) => loopOf(call, subject, count));
  process.on("message", async ({ call }: { call: number }) => {
    const start = process.hrtime.bigint();
    loops[call]!();
    await settle?.(subject);
    process.send!(Number(process.hrtime.bigint() - start) / calls[call]![1]);
  });
  await once(process, "disconnect");
  process.exit();
}

/** A loop of its own for each call, so that the compiler sees one call at each place. */
function loopOf<Subject>(call: (subject: Subject) => unknown, subject: Subject, count: number): () => void {
  const loop = new Function("call", "subject", "count", "for (let i = 0; i < count; i++) call(subject)") as (
    ...of: unknown[]
  ) => void;
  return () => loop(call, subject, count);
}
