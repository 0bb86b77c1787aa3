import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, isAbsolute, resolve } from "node:path";
import type * as Yaml from "yaml";
import type { Fault } from "../common/error.ts";
import { faultsWithin } from "../common/options.ts";
import { isRecord } from "../common/record.ts";
import { didYouMean, nearest } from "../common/suggestion.ts";
import { SettingFault, settingFault } from "./fault.ts";
import {
  emptySetting,
  isSection,
  nameOf,
  type Section,
  type Setting,
  serveOnlyFault,
  settingsOf,
  WRITINGS,
} from "./schema.ts";
import { secretFrom, textOf, withReferences } from "./secret.ts";
import { type Entry, originText, type Place, type Reading } from "./source.ts";

/** A configuration is written by people; a larger file is a mistake. */
const MAX_BYTES = 1024 * 1024;

/** Reads the settings of a file of JSON or YAML. It does not throw: everything that is wrong is in `faults`. */
export function readConfigurationFile(file: string, schema: Section, serving: boolean): Reading {
  try {
    const { size } = statSync(file);
    if (size > MAX_BYTES) return failed([{ at: file, message: `is larger than ${MAX_BYTES} bytes` }]);
    const text = textOf(readFileSync(file));
    if (text === undefined) return failed([{ at: file, message: "the file is not text in UTF-8" }]);
    const content = parse(text, file.endsWith(".json"));
    if ("faults" in content) {
      const at = ({ line, column }: Place) => `${basename(file)}:${line}:${column}`;
      return failed(content.faults.map(({ place, message }) => ({ at: at(place), message })));
    }
    return new FileReading(file, content, schema, serving).read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return failed([{ at: file, message: code === "ENOENT" ? "there is no such file" : `cannot be read (${code})` }]);
  }
}

function failed(faults: readonly Fault[]): Reading {
  return { entries: [], faults: faults.map((fault) => ({ ...fault, setting: "" })), placeOfSection: () => undefined };
}

/** A parsed file: its value, and by path (`limits.maxConnections`) where each value is and how its scalar is written. */
interface Content {
  readonly value: unknown;
  readonly places: ReadonlyMap<string, Place>;
  readonly sources: ReadonlyMap<string, string>;
}

interface SyntaxFaults {
  readonly faults: readonly { readonly place: Place; readonly message: string }[];
}

/** Reads YAML 1.2, of which JSON is a part. The package is loaded only if there is a file. */
function parse(text: string, isJson: boolean): Content | SyntaxFaults {
  const yaml = createRequire(import.meta.url)("yaml") as typeof Yaml;
  const lines = new yaml.LineCounter();
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const document = yaml.parseDocument(text.replace(/^\ufeff/, ""), {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    uniqueKeys: true,
    ...(isJson && { schema: "json" }),
  });
  const errors = [...document.errors, ...document.warnings];
  if (errors.length > 0) {
    return { faults: errors.map(({ pos, message }) => ({ place: place(pos[0]), message: plain(message) })) };
  }
  const places = new Map<string, Place>();
  const sources = new Map<string, string>();
  const faults: { place: Place; message: string }[] = [];
  const visit = (node: unknown, path: string): void => {
    if (!yaml.isNode(node)) return;
    const at = place(node.range?.[0] ?? 0);
    places.set(path, at);
    if (yaml.isAlias(node)) faults.push({ place: at, message: "write the value again: aliases are not supported" });
    else if (yaml.isScalar(node) && !isJson && node.source !== undefined) sources.set(path, node.source);
    else if (yaml.isMap(node)) {
      for (const { key, value } of node.items) visit(value, join(path, String((key as Yaml.Scalar).value)));
    } else if (yaml.isSeq(node)) {
      for (const [index, item] of node.items.entries()) visit(item, join(path, String(index)));
    }
  };
  visit(document.contents, "");
  if (faults.length > 0) return { faults };
  return { value: document.contents === null ? {} : document.toJS({ maxAliasCount: 0 }), places, sources };
}

const join = (path: string, name: string) => (path === "" ? name : `${path}.${name}`);

/** The package's message without the place, which stands before it, and in words that also fit JSON. */
function plain(message: string): string {
  return message
    .replace(/ at line \d+, column \d+:?[\s\S]*$/, "")
    .replace("Flow map", "the object")
    .replace("Flow sequence", "the list");
}

/** One reading of one file. */
class FileReading {
  readonly #file: string;
  readonly #folder: string;
  readonly #content: Content;
  readonly #schema: Section;
  readonly #serving: boolean;
  readonly #entries: Entry[] = [];
  readonly #faults: Fault[] = [];

  constructor(file: string, content: Content, schema: Section, serving: boolean) {
    this.#file = basename(file);
    this.#folder = dirname(resolve(file));
    this.#content = content;
    this.#schema = schema;
    this.#serving = serving;
  }

  read(): Reading {
    this.#collect("", () => this.#section(this.#schema, this.#content.value));
    const placeOfSection = (path: string) => (this.#content.places.has(path) ? this.#at(path) : undefined);
    return { entries: this.#entries, faults: this.#faults, placeOfSection };
  }

  /** Continues after a fault, so that all of them are reported. */
  #collect(path: string, read: () => void): void {
    try {
      read();
    } catch (error) {
      this.#faults.push(settingFault(error, this.#at(path), path));
    }
  }

  #at(path: string): string {
    return originText({ from: "file", file: this.#file, place: this.#content.places.get(path) });
  }

  #section(section: Section, value: unknown): void {
    const name = section.at.join(".");
    if (!isRecord(value)) {
      const other = section.flag?.kind === "flag" ? "true, false or " : "";
      throw new SettingFault(`${name === "" ? "the file" : name} must be ${other}an object of settings`);
    }
    this.#begin(section, value, name);
    for (const [key, each] of Object.entries(value)) {
      const path = join(name, key);
      if (path !== "$schema") this.#collect(path, () => this.#member(section, key, each, path));
    }
  }

  /** A section in the file is in force, even if it is empty. */
  #begin(section: Section, value: object, path: string): void {
    if (section.flag?.kind === "flag") this.#take(section.flag, true, path, false);
    else if (path !== "" && Object.keys(value).length === 0) this.#take(emptySetting(section), {}, path, false);
  }

  #member(section: Section, key: string, value: unknown, path: string): void {
    const member = section.members.get(key) ?? this.#secretOf(section, key, path);
    if (member.serveOnly && !this.#serving) throw new SettingFault(serveOnlyFault(path));
    if (isSection(member)) {
      const isWord = typeof value === (member.flag?.kind === "flag" ? "boolean" : "string");
      if (member.flag !== undefined && isWord) this.#take(member.flag, value, path, false);
      else this.#section(member, value);
    } else if (!section.members.has(key)) {
      if (typeof value !== "string") throw new SettingFault(`${path} must be the path of a file`);
      this.#take(member, secretFrom(value, this.#folder), path, true);
    } else {
      if (value === null) throw new SettingFault(`${path} is null; leave it out`);
      const { value: whole, concealed } = withReferences(this.#written(member, value, path), this.#folder);
      this.#take(member, whole, path, concealed);
    }
  }

  /** YAML reads `mode: 0600` and `version: 1.10` as numbers; a string option means what is written. */
  #written({ kind }: Setting, value: unknown, path: string): unknown {
    const isNumber = typeof value === "number" || typeof value === "boolean";
    return kind === "text" && isNumber ? (this.#content.sources.get(path) ?? value) : value;
  }

  /** The secret for whose file a name stands, such as `idKeyFile`; any other unknown name is a fault. */
  #secretOf(section: Section, key: string, path: string): Setting {
    const secret = key.endsWith("File") ? section.members.get(key.slice(0, -"File".length)) : undefined;
    if (secret !== undefined && !isSection(secret) && secret.secret !== undefined) return secret;
    if (section.codeOnly.includes(key)) throw new SettingFault(`${path} can only be passed in code`);
    const names = [...section.members.keys()];
    const near = nearest(key, names);
    const all = settingsOf(this.#schema).map(nameOf);
    const far = near ?? all.find((name) => lastName(name) === key.toLowerCase()) ?? nearest(key, all);
    const hint =
      near !== undefined || far === undefined ? didYouMean(key, names, "settings") : `did you mean "${far}"?`;
    throw new SettingFault(
      `Unknown setting "${path}"; ${hint}`,
      near === undefined ? far : [...section.at, near].join("."),
    );
  }

  #take(setting: Setting, written: unknown, path: string, concealed: boolean): void {
    const isDuration = setting.kind === "milliseconds" && typeof written === "string";
    const value = isDuration ? (WRITINGS.milliseconds.fromText(written) ?? written) : written;
    const faults = faultsWithin(path, value, setting.check);
    if (isDuration && faults.length > 0) throw new SettingFault(`${path} ${WRITINGS.milliseconds.expected}`);
    for (const { field, message } of faults) {
      const entry = field.replace(/\[(\d+)\]/g, ".$1");
      this.#faults.push({ at: this.#at(this.#content.places.has(entry) ? entry : path), message, setting: path });
    }
    if (faults.length > 0) return;
    const origin = { from: "file", file: this.#file, place: this.#content.places.get(path) } as const;
    this.#entries.push({ setting, value: this.#resolved(setting, value), origin, concealed });
  }

  /** A path starts from the folder of the file, wherever the process was started. */
  #resolved({ path }: Setting, value: unknown): unknown {
    if (path === undefined || typeof value !== "string" || isAbsolute(value)) return value;
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(value) || value.startsWith("-----BEGIN")) return value;
    return resolve(this.#folder, value);
  }
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1).toLowerCase();
}
