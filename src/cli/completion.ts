import { Argument, type Command } from "commander";
import { print } from "./output.ts";

/** The hidden command that the scripts call; the last of its words is the one to complete. */
export const COMPLETE = "__complete";

// The program that is typed prints the candidates, one a line, each with a tab and its description. Not `compgen -W`, which
// expands its words as code. bash splits addresses at their colons, so that COMP_LINE is split here; bash puts the answer after
// the last such break, so that what precedes it is removed from the answer.
const bash = `
_connect_actuator() {
  local candidate kept word
  local -a words
  COMPREPLY=()
  read -ra words <<<"\${COMP_LINE:0:COMP_POINT}"
  [[ "\${COMP_LINE:0:COMP_POINT}" == *[[:space:]] ]] && words+=("")
  word=\${words[\${#words[@]} - 1]}
  kept=\${word%"\${word##*["$COMP_WORDBREAKS"]}"}
  while IFS=$'\\t' read -r candidate _; do
    COMPREPLY+=("\${candidate#"$kept"}")
  done < <("\${words[0]}" ${COMPLETE} "\${words[@]:1}" 2>/dev/null)
}
complete -F _connect_actuator connect-actuator
`;

const zsh = `
#compdef connect-actuator
_connect_actuator() {
  local line tab=$'\\t'
  local -a candidates shown
  for line in "\${(@f)$("\${words[1]}" ${COMPLETE} "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -z $line ]] && continue
    candidates+=("\${line%%$tab*}")
    shown+=("\${line/$tab/  -- }")
  done
  (( $#candidates )) && compadd -l -d shown -a candidates
}
if [[ $funcstack[1] == _connect_actuator ]]; then
  _connect_actuator "$@"
else
  compdef _connect_actuator connect-actuator
fi
`;

const fish = `
function __connect_actuator_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  $words[1] ${COMPLETE} $words[2..-1] "$current" 2>/dev/null
end
complete -c connect-actuator -f -a '(__connect_actuator_complete)'
`;

/** The script of each shell. */
const COMPLETION_SCRIPTS = { bash: bash.trimStart(), zsh: zsh.trimStart(), fish: fish.trimStart() } as const;

/** Adds `completion`, which prints the script that a shell loads. */
export function addCompletionCommand(program: Command): void {
  program
    .command("completion")
    .description("print the shell script that completes commands, options and names of loggers")
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
