import { type Command, InvalidArgumentError, Option } from "commander";
import { PERMISSION_PATTERNS } from "../access/permission.ts";
import { callerName, loggerPrefix } from "../access/token-file.ts";
import { examples } from "./examples.ts";
import { expiryOf } from "./token-expiry.ts";
import type { TokenCreateOptions, TokenOptions } from "./token-options.ts";

const FILE = "actuator-tokens.json";

/** Adds `token` and what can be done with the file that the option `access.tokens` names. */
export function addTokenCommands(program: Command): void {
  const token = program.command("token").description("make and revoke the tokens of a file (option access.tokens)");
  token
    .command("create")
    .description("add a token to the file, and print it: once, since the file has only its hash")
    .requiredOption("--name <name>", "what the history and the audit call whoever uses it", nameOf)
    .addOption(
      new Option("--permission <permissions...>", "what it allows, such as loggers:read, loggers:* or *")
        .choices(PERMISSION_PATTERNS)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option("--loggers <names...>", "loggers at and below which it may change levels; otherwise all").argParser(
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
    .action(async (_, command: Command) => {
      const { createTokenIn } = await import("./token-create.ts");
      await createTokenIn(command.optsWithGlobals<TokenCreateOptions>());
    });

  token
    .command("list")
    .description("show the tokens of the file, without their secrets, which are not in it")
    .addOption(fileOption())
    .addHelpText("after", examples(["token list", "names, permissions, and until when"]))
    .action(async (_, command: Command) => {
      const { listTokens } = await import("./token-list.ts");
      await listTokens(command.optsWithGlobals<TokenOptions>());
    });

  token
    .command("revoke")
    .description("take a token out of the file; applications that follow it refuse the token within seconds")
    .argument("<token-name>", "the name it was created with")
    .addOption(fileOption())
    .addHelpText("after", examples(["token revoke alice", "she needs another one"]))
    .action(async (name: string, _, command: Command) => {
      const { revokeToken } = await import("./token-revoke.ts");
      await revokeToken(name, command.optsWithGlobals<TokenOptions>());
    });
}

function fileOption(): Option {
  return new Option("--file <path>", "the file of tokens").default(FILE);
}

function nameOf(text: string): string {
  const fault = callerName(text);
  if (fault !== undefined) throw new InvalidArgumentError(`It ${fault}.`);
  return text;
}

function loggersOf(text: string, before: readonly string[] = []): readonly string[] {
  const fault = loggerPrefix(text);
  if (fault !== undefined) throw new InvalidArgumentError(`Each ${fault}.`);
  return [...before, text];
}
