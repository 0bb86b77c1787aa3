import { hash31 } from "./node-id.ts";
import { type TemporaryName, temporaryNames } from "./temporary-name.ts";

/** How many names that differ only in a number have nodes of their own by default. */
const MAX_NUMBERED_NAMES = 20;
/** How many places in names are remembered: those where numbers are still compared, and those where they are ids. */
const MAX_PLACES = 1_000;
/** Up to how many names without a node of their own are counted. */
const MAX_COUNTED = 10_000;

/** Longer names are not compared. */
const MAX_COMPARED = 1_024;

/** How names are shown. */
export interface NamingOptions {
  readonly temporaryNames?: readonly TemporaryName[] | undefined;
  readonly maxNumberedNames?: number | undefined;
  /** Called when numbers at a place turn out to be ids, so that names that were shown before are shown differently. */
  readonly onIdsFound: () => void;
}

/**
 * Decides how the graph shows the names of destinations. Temporary names are shown as their patterns. Beyond those, names that
 * differ only in a number are compared: from the 21st number at one place on, such as behind `order.created.`, all of them are
 * shown as `*`. What stands before the number makes the place; what follows may differ.
 */
export class NumberedNames {
  readonly #temporary: (name: string) => string;
  readonly #max: number;
  readonly #onIdsFound: () => void;
  /** Hashes of the numbers that were seen at each place. */
  readonly #seen = new Map<string, Set<number>>();
  /** The places where numbers are ids. */
  readonly #ids = new Set<string>();
  /** Hashes of names that have no node of their own. */
  readonly #collapsed = new Set<number>();

  /** @throws ActuatorError INVALID_ARGUMENT for a temporary name that stands for every name. */
  constructor({ temporaryNames: patterns, maxNumberedNames = MAX_NUMBERED_NAMES, onIdsFound }: NamingOptions) {
    this.#temporary = temporaryNames(patterns);
    this.#max = maxNumberedNames;
    this.#onIdsFound = onIdsFound;
  }

  /** How many names have no node of their own, as far as they are counted. */
  get collapsed(): number {
    return this.#collapsed.size;
  }

  /** A name as it is shown. `scope` stands before it in the name of its node. */
  shown(name: string, scope = ""): string {
    const places = this.#ids.size;
    const shown = this.#starred(this.#temporary(name), scope, (place, number) => this.#compare(place, number));
    if (shown !== name) this.count(scope + name);
    if (this.#ids.size > places) this.#onIdsFound();
    return shown;
  }

  /** The name of a node that is already shown, as it is shown now. */
  shownAgain(name: string): string {
    return this.#starred(name, "");
  }

  /** Counts a name that has no node of its own. */
  count(name: string): void {
    if (this.#collapsed.size < MAX_COUNTED) this.#collapsed.add(hash31(name));
  }

  /** Without a regular expression: this is done for each message if names have ids, and names come from elsewhere. */
  #starred(name: string, scope: string, compare?: (place: string, number: string) => void): string {
    if (name.length > MAX_COMPARED) return name;
    let shown = "";
    let end = 0;
    for (let at = 0; at < name.length; at++) {
      if (!isDigit(name.charCodeAt(at))) continue;
      let first = at;
      while (first > end && isWordPart(name.charCodeAt(first - 1))) first--;
      let behind = at;
      while (isDigit(name.charCodeAt(behind))) behind++;
      let last = behind;
      // A word with digits at several places is an id as a whole, if any is.
      let mixed = false;
      for (let code = name.charCodeAt(last); isWordPart(code); code = name.charCodeAt(++last)) mixed ||= isDigit(code);
      shown += name.slice(end, first);
      const before = scope + shown;
      const [start, number] = mixed ? ["", name.slice(first, last)] : [name.slice(first, at), name.slice(at, behind)];
      const place = mixed ? `id ${before}` : `number ${before}${start}`;
      // A place of ids stays one, whatever is found at the beginning of the word.
      const isKnown = this.#ids.has(place);
      const isAnyId = !isKnown && !mixed && this.#ids.has(`id ${before}`);
      if (!isKnown && !isAnyId) compare?.(place, number);
      if (isAnyId) shown += "*";
      else if (isKnown || this.#ids.has(place)) shown += `${start}*${mixed ? "" : name.slice(behind, last)}`;
      else shown += name.slice(first, last);
      end = last;
      at = last - 1;
    }
    return end === 0 ? name : shown + name.slice(end);
  }

  /** Remembers a number that was seen at a place. */
  #compare(place: string, number: string): void {
    if (this.#ids.size >= MAX_PLACES) return;
    let numbers = this.#seen.get(place);
    if (numbers === undefined) {
      if (this.#seen.size >= MAX_PLACES) this.#seen.delete(this.#seen.keys().next().value!);
      this.#seen.set(place, (numbers = new Set()));
    }
    numbers.add(hash31(number));
    if (numbers.size <= this.#max) return;
    this.#seen.delete(place);
    this.#ids.add(place);
  }
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** Whether a character belongs to a word: digits, letters, and what is not ASCII. NaN, behind the end, does not. */
function isWordPart(code: number): boolean {
  return isDigit(code) || (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code > 127;
}
