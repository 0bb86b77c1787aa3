import type { Caller } from "../../gen/actuator/v3/application_pb.ts";

/** The command that makes a token with what the caller may do and one permission more. */
export function tokenCommand(
  caller: Pick<Caller, "name" | "authentication" | "permissions" | "loggers">,
  permission: string,
): string {
  const words = [...patternsOf([...caller.permissions, permission])];
  const loggers = caller.loggers.length === 0 ? "" : ` --loggers ${caller.loggers.map(quoted).join(" ")}`;
  // A name that the file has already is refused.
  const name = caller.authentication === "none" ? "operator" : quoted(`${caller.name}-2`);
  return `npx connect-actuator token create --name ${name} --permission ${words.map(quoted).join(" ")}${loggers} --file tokens.json`;
}

/** All permissions of a subject become one pattern. */
const WHOLE: Readonly<Record<string, number>> = { loggers: 2, sessions: 3, graph: 2 };

function patternsOf(permissions: readonly string[]): Set<string> {
  const of = (subject: string) => new Set(permissions.filter((each) => each.startsWith(`${subject}:`))).size;
  return new Set(
    permissions.map((permission) => {
      const subject = permission.split(":")[0]!;
      return of(subject) === WHOLE[subject] ? `${subject}:*` : permission;
    }),
  );
}

function quoted(word: string): string {
  return /^[\w.:@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
