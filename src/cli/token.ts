import { type Command, InvalidArgumentError, Option } from "commander";
import { PERMISSION_PATTERNS, type PermissionPattern } from "../access/permission.ts";
import { callerName, editTokens, loggerPrefix, readTokens, type TokenEntry } from "../access/token-file.ts";
import { durationFromText } from "../common/duration.ts";
import { ActuatorError } from "../common/error.ts";
import { printable, printableJson } from "../common/printable.ts";
import { didYouMean } from "../common/suggestion.ts";
import { CliError, EXIT } from "./error.ts";
import { examples, type GlobalOptions } from "./options.ts";
import { note, print, tableLines } from "./output.ts";

interface TokenOptions extends Pick<GlobalOptions, "json"> {
  readonly file: string;
}

interface CreateOptions extends TokenOptions {
  readonly name: string;
  readonly permission: readonly string[];
  readonly loggers?: readonly string[];
  readonly expires?: Date;
}

/** Adds `token` with its commands, which edit the file that the option `access.tokens` names. */
export function addTokenCommands(program: Command): void {
  const token = program.command("token").description("create and revoke the tokens of a file (option access.tokens)");
  token
    .command("create")
    .description("add a token to the file and print it, only once: the file has only its hash")
    .option("--name <name>", "the name of the caller in the history and the audit; required")
    .addOption(
      new Option("--permission <permissions...>", "what it allows, such as loggers:read, loggers:* or *")
        .choices(PERMISSION_PATTERNS)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option("--loggers <names...>", "see and change only these loggers, and those below them").argParser(
        loggersOf,
      ),
    )
    .addOption(new Option("--expires <when>", "after a duration such as 90d, or at 2027-01-31").argParser(expiryOf))
    .addOption(fileOption())
    .addHelpText(
      "after",
      examples(
        [
          "token create --name alice --permission 'loggers:*' info:read",
          "prints ca_…, to be sent as Bearer or in Basic",
        ],
        ["token create --name admin-server --permission '*' --expires 365d", "for Spring Boot Admin"],
        ["token create --name orders-team --permission 'loggers:*' --loggers orders", "levels of orders and below"],
      ),
    )
    .action((_, command: Command) => {
      const options = command.optsWithGlobals<Omit<CreateOptions, "name"> & { name?: string }>();
      return createToken({ ...options, name: nameOf(options.name) });
    });

  token
    .command("list")
    .description("show the tokens of the file, which does not have their secrets")
    .addOption(fileOption())
    .addHelpText("after", examples(["token list", "names, permissions and expiry"]))
    .action((_, command: Command) => listTokens(command.optsWithGlobals<TokenOptions>()));

  token
    .command("revoke")
    .description("remove a token from the file; applications that follow the file refuse it within seconds")
    .argument("<token-name>", "the name it was created with")
    .addOption(fileOption())
    .addHelpText("after", examples(["token revoke alice", "she needs another token"]))
    .action((name: string, _, command: Command) => revokeToken(name, command.optsWithGlobals<TokenOptions>()));
}

function fileOption(): Option {
  return new Option("--file <path>", "the file of tokens").default("actuator-tokens.json");
}

/** Commander takes every `--name` for the global option, so it can neither require nor check this one. */
function nameOf(text: string | undefined): string {
  if (text === undefined) throw new CliError(EXIT.usage, "required option '--name <name>' not specified");
  const fault = callerName(text);
  if (fault !== undefined) throw new CliError(EXIT.usage, `option '--name <name>' ${fault}`);
  return text;
}

function loggersOf(text: string, before: readonly string[] = []): readonly string[] {
  const fault = loggerPrefix(text);
  if (fault !== undefined) throw new InvalidArgumentError(`Each ${fault}.`);
  return [...before, text];
}

/** The last moment that RFC 3339 can write. */
const MAX_TIME = Date.parse("9999-12-31T23:59:59Z");

/** Reads when a token expires: after a duration from now on, or at a day or time in the future; a day begins in UTC. */
function expiryOf(text: string): Date {
  const duration = durationFromText(text);
  const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d))?$/.test(text);
  const time = duration !== undefined ? Date.now() + duration : isTime ? Date.parse(text) : Number.NaN;
  if (time > Date.now() && time <= MAX_TIME) return new Date(time);
  throw new InvalidArgumentError(
    "Give a duration such as 90d, or a future time such as 2027-01-31 or 2027-01-31T12:00:00Z.",
  );
}

/** Prints only the token to standard output, so that it can be piped into a secret store. */
async function createToken({ name, permission, loggers, expires, file, json }: CreateOptions): Promise<void> {
  const access = await import("../access/token.ts");
  const { token, id, hash } = access.createToken();
  const entry: TokenEntry = {
    name,
    id,
    hash,
    permissions: [...new Set(permission)] as PermissionPattern[],
    ...(loggers !== undefined && { loggers }),
    created: timeInSeconds(new Date()),
    ...(expires !== undefined && { expires: timeInSeconds(expires) }),
  };
  await editTokens(file, (tokens) => {
    if (tokens.every((each) => each.name !== name)) return [...tokens, entry];
    const message = `${printable(file)} already has a token named ${name}: revoke it, or use another name`;
    throw new CliError(EXIT.refused, message);
  }).catch(fileFailure(file));
  const { hash: _, ...shown } = entry;
  print(json ? printableJson({ token, file, ...shown }, 2) : token);
  if (json) return;
  note(`This is shown only once; ${printable(file)} has its hash.`);
  note('Send it as "Authorization: Bearer …", or as the password of Basic authentication.');
}

function timeInSeconds(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, "Z");
}

async function listTokens({ file, json }: TokenOptions): Promise<void> {
  const tokens = await readTokens(file).catch(fileFailure(file));
  if (tokens === undefined) throw noFile(file);
  const now = Date.now();
  const shown = tokens.map(({ hash, ...token }) => {
    return { ...token, expired: token.expires !== undefined && Date.parse(token.expires) <= now };
  });
  if (json) return print(printableJson({ tokens: shown }, 2));
  const rows = shown.map(({ name, permissions, loggers, expires, expired }) => {
    const expiry = expires === undefined ? "never" : expired ? `expired ${expires}` : expires;
    return [name, permissions.join(" "), loggers?.join(" ") ?? "all", expiry];
  });
  for (const line of tableLines(["NAME", "PERMISSIONS", "LOGGERS", "EXPIRES"], rows)) print(line);
}

async function revokeToken(name: string, { file, json }: TokenOptions): Promise<void> {
  const failure = fileFailure(file);
  if ((await readTokens(file).catch(failure)) === undefined) throw noFile(file);
  await editTokens(file, (tokens) => {
    const kept = tokens.filter((token) => token.name !== name);
    if (kept.length < tokens.length) return kept;
    const names = tokens.map((token) => token.name);
    const message = `${file} has no token named ${name}; ${didYouMean(name, names, "tokens")}`;
    throw new CliError(EXIT.refused, printable(message));
  }).catch(failure);
  if (json) print(printableJson({ revoked: name, file }, 2));
  else note(`revoked ${printable(name)}`);
}

function noFile(file: string): CliError {
  return new CliError(EXIT.refused, `${printable(file)} does not exist: give its path with --file, or create a token`);
}

/** Explains why the file cannot be read or written. */
function fileFailure(file: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof ActuatorError) {
      throw new CliError(EXIT.refused, `${printable(file)}: ${printable(error.message)}`);
    }
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof CliError || code === undefined) throw error;
    throw new CliError(EXIT.refused, `${printable(file)} cannot be used: ${printable(message)}`);
  };
}
