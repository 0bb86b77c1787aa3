/**
 * The word list: words and names that a reader has to guess at, each with what to write in its place. `npm run check`
 * applies it to the documentation and to `src`, with its comments, messages and identifiers. `npm run words` prints what it finds.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./command.ts";

export interface Finding {
  readonly line: number;
  readonly found: string;
  readonly advice: string;
}

const NAME_IT =
  "name who acts: the caller, the client, the operator, the application, the adapter, the store, the broker";

/** Words and phrases, in any case. A space stands for any white space, also between two lines of a comment. */
const PHRASES: readonly (readonly [phrases: string, advice: string])[] = [
  ["nobody|no one|somebody|someone|anybody|everybody|whoever|whomever", NAME_IT],
  ["those who|all who|any who|he who|for who", NAME_IT],
  ["strangers?", '"an unauthenticated client" or "an anonymous caller"'],
  ["(is|are|was|were|be|been) told (of|about)", '"is notified of", "receives", "gets"'],
  ["hears? of|hears? about|heard of", '"is notified of", "receives", "sees"'],
  ["puts? up with", '"accepts", "tolerates", or the limit itself'],
  ["(has|have|had) the last word", '"overrides everything else"'],
  ["errands?", '"task", "job", "queue"'],
  ["the books|books on", '"audit log", "metrics", "call log"'],
  ["knocks?|knocking", '"request", "authentication request"'],
  ["lapsed?|lapses", '"expires", "expired"'],
  ["(?<!there )is none(?! of)|(?<!there )are none(?! of)", '"is not", "are not"'],
  ["counts? no more|no more than it is", '"is no longer valid"'],
  ["says? (it )?aloud|said aloud|out loud", '"logs a warning", "reports"'],
  ["say who they are|says who it is|said who they are", '"authenticate"'],
  ["(is|are) (asked )?who (he|she|they|it) (is|are)", '"must authenticate"'],
  ["for ever", '"forever", "indefinitely"'],
  ["text that is not empty|must be a text", '"must be a non-empty string"'],
  ["takes? (\\w+ )?for dead|taken for dead", '"treats as lost", "considers closed"'],
  ["stands? in (the|its)", '"is in"'],
  ["looks? over (\\w+ )?shoulders?", "say what is read and by which client"],
  ["left with the message in its hands", '"abandoned"'],
  ["gone through with|goes through with", '"completes"'],
  ["the likes of|and so forth|as it were|so to speak", "leave it out, or list the things"],
];

/** Names that the vocabulary replaced, in this case only. */
const NAMES: readonly (readonly [names: string, advice: string])[] = [
  ["Knock", "AuthRequest"],
  ["Visit", "RequestContext"],
  ["isStranger", "isAnonymous"],
  ["isShutOut", "isCertificateExpired"],
  ["isAsked", "requiresAuthentication"],
  ["hasShown", "presentedCertificate"],
  ["Guesses", "AuthFailureLimiter"],
  ["onKnownCaller", "onAuthenticated"],
  ["noteKnownCaller", "markAuthenticated"],
  ["(?<=(?:interface|type) |: |<)Shown", "EffectiveSetting"],
  ["Errands", "PerKeyQueue"],
  ["#heed", "applyGroupLevel"],
  ["#hush", "ignoreEcho"],
  ["Tally", "LevelCounts"],
  ["governor|Governor", "level-controller, LevelController"],
  ["WaitingRoom", "PendingSpans"],
  ["Allowance", "TokenBucket"],
  ["ConfigurationError", "ActuatorError"],
  ["nestLoggers", "nestjsLoggers"],
  ["springSessionRedis|springSessionJdbc", "springSessions"],
  ["prepareRedisSessions", "prepareConnectRedisSessions"],
];

const RULES = [
  ...PHRASES.map(([phrases, advice]) => ({ pattern: phrasePattern(phrases), advice })),
  ...NAMES.map(([names, advice]) => ({ pattern: new RegExp(`(?<![\\w#])(?:${names})(?!\\w)`, "g"), advice })),
];

const CHECKED = ["*.md", "docs/**/*.md", "src/**/*.{ts,md}", "proto/actuator/**/*.proto"];

/** What the list finds in a text, by line. Code that a page shows in Markdown counts too: it is read like the rest. */
export function oddWords(text: string): Finding[] {
  const findings = RULES.flatMap(({ pattern, advice }) =>
    [...text.matchAll(pattern)].map(({ 0: found, index }) => ({
      at: index,
      line: text.slice(0, index).split("\n").length,
      found: found.replace(/\s[\s*/]*/g, " "),
      advice,
    })),
  );
  return findings.sort((a, b) => a.at - b.at).map(({ line, found, advice }) => ({ line, found, advice }));
}

/** Every finding of the repository as `<file>:<line>: "<found>": <advice>`. */
export function wordFaults(): string[] {
  const files = globSync(CHECKED, { cwd: root, exclude: ["src/gen/**", "node_modules/**"] }).sort();
  return files.flatMap((file) =>
    oddWords(readFileSync(join(root, file), "utf8")).map(
      ({ line, found, advice }) => `${file}:${line}: "${found}": ${advice}`,
    ),
  );
}

/** A line of a comment begins with `*` or `//`, which are no part of the phrase. */
function phrasePattern(phrases: string): RegExp {
  return new RegExp(`\\b(?:${phrases.replaceAll(" ", "\\s(?:[\\s*/]*)")})\\b`, "gi");
}

if (import.meta.main) {
  const faults = wordFaults();
  for (const fault of faults) console.log(fault);
  console.log(`${faults.length} to put into plainer words`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
