import type { PrepareStep } from "../adapters/sessions/connect-pg-simple/prepare.ts";
import { durationToText } from "../common/duration.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { note, print } from "./output.ts";
import { printable, printableJson } from "./printable.ts";
import type { PrepareOptions } from "./sessions-prepare-options.ts";
import { StatusLine } from "./status-line.ts";

/** Gives the table of connect-pg-simple what searches need; a dry run prints the SQL, as psql takes it. */
export async function preparePostgres(
  url: string,
  { table, schema, principal, remove, dryRun = false, json }: PrepareOptions,
): Promise<ExitCode> {
  const { prepareConnectPgSimple } = await import("../adapters/sessions/connect-pg-simple/prepare.ts");
  let status: StatusLine | undefined;
  const onStep = (step: PrepareStep) => {
    status?.close();
    if (step.state === "begun") status = statusOf(step);
    else if (!json) print(dryRun ? planned(step) : `${step.state.padEnd(8)}  ${printable(step.description)}`);
  };
  try {
    const prepared = await prepareConnectPgSimple({ url, table, schema, principal, remove, dryRun, onStep });
    if (json) print(printableJson(prepared, 2));
    else note(summary(prepared.changed, dryRun));
    return EXIT.ok;
  } finally {
    status?.close();
  }
}

function statusOf({ description }: PrepareStep): StatusLine {
  const began = performance.now();
  return new StatusLine(() => `${printable(description)} ${durationToText(performance.now() - began)}`);
}

function planned({ description, sql }: PrepareStep): string {
  const comment = `-- ${printable(description)}`;
  return sql === undefined ? comment : `${comment}\n${printable(sql)};`;
}

function summary(changed: boolean, dryRun: boolean): string {
  if (!changed) return "There is nothing to do.";
  return dryRun ? "Nothing was changed." : "Done.";
}
