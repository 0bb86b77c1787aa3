import type { Command } from "commander";
import { EXIT, type ExitCode } from "./error.ts";
import { examples } from "./options.ts";
import { note, print } from "./output.ts";
import { failureOf, storeOption, urlHelp, urlOf } from "./store-url.ts";

const TIMEOUT_MS = 30_000;

interface PrepareOptions {
  readonly postgres: string | true;
  readonly dryRun?: boolean;
}

/** Adds `fleet prepare`. */
export function addFleetPrepareCommand(fleet: Command): void {
  fleet
    .command("prepare")
    .description("make the tables of fleets in PostgreSQL, once for a database")
    .addOption(storeOption("postgres", "the PostgreSQL of the fleet").makeOptionMandatory())
    .option("--dry-run", "only print the SQL")
    .addHelpText(
      "after",
      examples(
        ["fleet prepare --postgres --dry-run", "prints the SQL, for psql; nothing is connected to"],
        ["fleet prepare --postgres -", "reads the URL from standard input"],
      ) + urlHelp("postgres"),
    )
    .action(async (options: PrepareOptions) => {
      process.exitCode = await prepare(options);
    });
}

async function prepare({ postgres, dryRun }: PrepareOptions): Promise<ExitCode> {
  const { FLEET_STATEMENTS, FLEET_TABLES } = await import("../adapters/fleet/postgres/tables.ts");
  if (dryRun) {
    print(FLEET_TABLES);
    note("Nothing was changed.");
    return EXIT.ok;
  }
  const { ownPool } = await import("../adapters/kit/postgres/own-pool.ts");
  try {
    const pool = ownPool(await urlOf("postgres", postgres), TIMEOUT_MS);
    try {
      for (const statement of FLEET_STATEMENTS) await pool.send(statement, []);
    } finally {
      await pool.close();
    }
  } catch (error) {
    throw failureOf(error);
  }
  note(
    "The tables of fleets are there. Instances need select, insert and update on both, and delete on ca_fleet_instance.",
  );
  return EXIT.ok;
}
