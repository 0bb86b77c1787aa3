/**
 * The command lines of a program in a piece of shell, each as its words without the program's name. What a variable holds is
 * written as 1, and what stands for something by three dots, or between `<` and `>`, as x.
 */
export function commandLines(shell: string, program: string): string[][] {
  const whole = shell.replace(/\\\n\s*/g, " ");
  const pattern = new RegExp(`(?<![\\w/-])${program}(?= +[a-z-])`, "g");
  return whole
    .split("\n")
    .flatMap((line) =>
      [...beforeComment(line).matchAll(pattern)].map(({ index, input }) => wordsOf(input.slice(index))),
    );
}

function beforeComment(line: string): string {
  return line.replace(/(^|\s)#.*/, "");
}

const WORD = /'([^']*)'|"([^"]*)"|<(\w+…?)>|([^\s'"|;&)(<>]+)/y;

/** The words behind the first, up to what ends a command. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  let at = 0;
  while (at < text.length) {
    WORD.lastIndex = at;
    const match = WORD.exec(text);
    if (match !== null) {
      const [whole, single, double, placeholder, bare] = match;
      words.push(placeholder === undefined ? literally(single ?? double ?? bare!) : "x");
      at += whole.length;
    } else if (/\s/.test(text[at]!)) at++;
    else if (text[at] === "|" && /\w/.test(text[at + 1] ?? "")) {
      words.push(`${words.pop()}|${/^\w+/.exec(text.slice(at + 1))![0]}`);
      at += 1 + /^\w+/.exec(text.slice(at + 1))![0].length;
    } else break;
  }
  return words.slice(1).map((word) => (word === "…" ? "x" : word));
}

function literally(word: string): string {
  return word.replace(/\$\{?\w+\}?/g, "1");
}
