import { ActuatorError } from "../error.ts";
import type { Level } from "./level.ts";
import { loggerName } from "./name.ts";

/** Loggers that are changed together, under a name of their own. */
export interface Group {
  readonly name: string;
  /** Names of loggers, as the tree spells them. */
  readonly members: readonly string[];
  /** The last level set through the group; it does not follow its members. */
  configured: Level | undefined;
}

/**
 * Reads the groups of the configuration, in its order.
 *
 * @throws ActuatorError INVALID_ARGUMENT where the name of a group or of a member cannot be a logger's name.
 */
export function groupsFrom(configuration: Readonly<Record<string, readonly string[]>>): Map<string, Group> {
  return new Map(
    Object.entries(configuration).map(([text, members]) => {
      const name = nameIn(text, text);
      return [name, { name, members: members.map((member) => nameIn(text, member)), configured: undefined }];
    }),
  );
}

function nameIn(group: string, text: string): string {
  try {
    return loggerName(text);
  } catch (cause) {
    const message = `loggers.groups: in the group ${JSON.stringify(group)}: ${(cause as Error).message}`;
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_GROUP", message, { group }, { cause });
  }
}
