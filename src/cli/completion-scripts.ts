/** The hidden command that the scripts ask; the last of its words is the one to complete. */
export const COMPLETE = "__complete";

// The candidates come from the program that is typed, one a line, each with a tab and its description. Not `compgen -W`: it
// expands its words as code. COMP_LINE is split here since bash itself splits addresses at their colons; what stands before
// such a break is left out of the answer again, because bash puts the answer after it.
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

/** What each shell reads. */
export const COMPLETION_SCRIPTS = { bash: bash.trimStart(), zsh: zsh.trimStart(), fish: fish.trimStart() } as const;
