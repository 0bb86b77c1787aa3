import { Argument, type Command } from "commander";
import { COMPLETION_SCRIPTS } from "./completion-scripts.ts";
import { print } from "./output.ts";

/** Adds `completion`, which prints what a shell needs in order to complete the other commands. */
export function addCompletionCommand(program: Command): void {
  program
    .command("completion")
    .description("print the script with which a shell completes commands, options and names of loggers")
    .addArgument(new Argument("<shell>", "your shell").choices(Object.keys(COMPLETION_SCRIPTS)))
    .addHelpText(
      "after",
      [
        "",
        "Examples:",
        '  bash, in ~/.bashrc:  eval "$(connect-actuator completion bash)"',
        '  zsh, in ~/.zshrc after compinit:  eval "$(connect-actuator completion zsh)"',
        "  fish:  connect-actuator completion fish > ~/.config/fish/completions/connect-actuator.fish",
      ].join("\n"),
    )
    .action((shell: keyof typeof COMPLETION_SCRIPTS) => print(COMPLETION_SCRIPTS[shell].trimEnd()));
}
