import { readFileSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, resolve } from "node:path";
import { faultOf } from "../common/options.ts";
import { type Entry, originText } from "./entry.ts";
import { type Fault, SettingFault, settingFault } from "./fault.ts";
import { JsonFault, type PlacedJson, parseJson } from "./json.ts";
import { WRITINGS } from "./kind.ts";
import { emptySetting, settingsOf } from "./schema.ts";
import { secretFrom, withReferences } from "./secret.ts";
import { isSection, nameOf, type Section, type Setting, standaloneFault } from "./setting.ts";
import { meantBy, suggestion } from "./suggestion.ts";
import { textOf } from "./text.ts";

/** What a source of settings says, and what is wrong with it. */
export interface Reading {
  readonly entries: readonly Entry[];
  readonly faults: readonly Fault[];
  /** Where it speaks of a section, where it does. */
  placeOfSection(path: string): string | undefined;
}

/** A configuration is written by people; more is a mistake. */
const MAX_BYTES = 1024 * 1024;

/** Reads the settings in a file of JSON. Nothing is thrown: what is wrong is in `faults`, all of it. */
export function readConfigurationFile(file: string, schema: Section, standalone: boolean): Reading {
  try {
    const { size } = statSync(file);
    if (size > MAX_BYTES) return failed(file, `is larger than ${MAX_BYTES} bytes`);
    const text = textOf(readFileSync(file));
    if (text === undefined) return failed(file, "the file is no text in UTF-8");
    return new FileReading(file, parseJson(text), schema, standalone).read();
  } catch (error) {
    if (error instanceof JsonFault) {
      const { message, place } = error;
      return failed(`${basename(file)}:${place.line}:${place.column}`, message);
    }
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return failed(file, code === "ENOENT" ? "there is no such file" : `the file cannot be read (${code})`);
  }
}

function failed(at: string, message: string): Reading {
  return { entries: [], faults: [{ at, message, setting: "" }], placeOfSection: () => undefined };
}

/** One reading of one file. */
class FileReading {
  readonly #file: string;
  readonly #folder: string;
  readonly #json: PlacedJson;
  readonly #schema: Section;
  readonly #standalone: boolean;
  readonly #entries: Entry[] = [];
  readonly #faults: Fault[] = [];

  constructor(file: string, json: PlacedJson, schema: Section, standalone: boolean) {
    this.#file = basename(file);
    this.#folder = dirname(resolve(file));
    this.#json = json;
    this.#schema = schema;
    this.#standalone = standalone;
  }

  read(): Reading {
    this.#tell("", () => this.#section(this.#schema, this.#json.value));
    const placeOfSection = (path: string) => (this.#json.places.has(path) ? this.#at(path) : undefined);
    return { entries: this.#entries, faults: this.#faults, placeOfSection };
  }

  /** Goes on behind what is wrong: all of it is told. */
  #tell(path: string, read: () => void): void {
    try {
      read();
    } catch (error) {
      this.#faults.push(settingFault(error, this.#at(path), path));
    }
  }

  #at(path: string): string {
    return originText({ from: "file", file: this.#file, place: this.#json.places.get(path) });
  }

  #section(section: Section, value: unknown): void {
    const name = section.at.join(".");
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      const other = section.flag === undefined ? "" : "true, false or ";
      throw new SettingFault(`${name === "" ? "the file" : name} must be ${other}an object of settings`);
    }
    this.#begin(section, value, name);
    for (const [key, each] of Object.entries(value)) {
      const path = [...section.at, key].join(".");
      if (path !== "$schema") this.#tell(path, () => this.#member(section, key, each, path));
    }
  }

  /** A section that is there is on, whatever it says; so is one that says nothing. */
  #begin(section: Section, value: object, path: string): void {
    if (section.flag !== undefined) this.#take(section.flag, true, path, false);
    else if (path !== "" && Object.keys(value).length === 0) this.#take(emptySetting(section), {}, path, false);
  }

  #member(section: Section, key: string, value: unknown, path: string): void {
    const member = section.members.get(key) ?? this.#unknown(section, key, path);
    if (member.standalone && !this.#standalone) throw new SettingFault(standaloneFault(path));
    if (isSection(member)) {
      if (member.flag !== undefined && typeof value === "boolean") this.#take(member.flag, value, path, false);
      else this.#section(member, value);
    } else if (!section.members.has(key)) {
      if (typeof value !== "string") throw new SettingFault(`${path} must be the path of a file`);
      this.#take(member, secretFrom(value, this.#folder), path, true);
    } else {
      if (value === null) throw new SettingFault(`${path} is null; leave it out`);
      const { value: whole, concealed } = withReferences(value, this.#folder);
      this.#take(member, whole, path, concealed);
    }
  }

  /** The secret whose file this names; nothing else that has no setting is known. */
  #unknown(section: Section, key: string, path: string): Setting {
    const secret = key.endsWith("File") ? section.members.get(key.slice(0, -"File".length)) : undefined;
    if (secret !== undefined && !isSection(secret) && secret.secret !== undefined) return secret;
    if (section.codeOnly.includes(key)) throw new SettingFault(`${path} can only be given in code`);
    const members = [...section.members.keys()];
    const found = meantBy(key, members, settingsOf(this.#schema).map(nameOf));
    const meant = found && members.includes(found) ? [...section.at, found].join(".") : found;
    throw new SettingFault(`there is no setting "${path}"; ${suggestion(found, members)}`, meant);
  }

  #take(setting: Setting, written: unknown, path: string, concealed: boolean): void {
    const isDuration = setting.kind === "milliseconds" && typeof written === "string";
    const value = isDuration ? (WRITINGS.milliseconds.fromText(written) ?? written) : written;
    const fault = setting.check(value);
    if (fault !== undefined) throw new SettingFault(faultOf(path, isDuration ? WRITINGS.milliseconds.expected : fault));
    const origin = { from: "file", file: this.#file, place: this.#json.places.get(path) } as const;
    this.#entries.push({ setting, value: this.#resolved(setting, value), origin, concealed });
  }

  /** A path counts from the folder of the file, wherever the process was started. */
  #resolved({ path }: Setting, value: unknown): unknown {
    if (path === undefined || typeof value !== "string" || isAbsolute(value)) return value;
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(value) || value.startsWith("-----BEGIN")) return value;
    return resolve(this.#folder, value);
  }
}
