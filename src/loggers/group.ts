import { ActuatorError } from "../error.ts";
import { loggerName } from "./name.ts";
import type { Configurable } from "./setting.ts";

/** Loggers that are changed together, under a name of their own. */
export interface Group extends Configurable {
  readonly name: string;
  /** Names of loggers, as the tree spells them. */
  readonly members: readonly string[];
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
      const names = members.map((member) => nameIn(text, member));
      const bare = { configured: undefined, override: undefined, beneath: undefined, temporary: undefined };
      return [name, { name, members: names, ...bare }];
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
