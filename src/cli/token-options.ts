import type { GlobalOptions } from "./global-options.ts";

/** What every command about tokens takes. */
export interface TokenOptions extends Pick<GlobalOptions, "json"> {
  readonly file: string;
}

/** What `token create` takes. */
export interface TokenCreateOptions extends TokenOptions {
  readonly name: string;
  readonly permission: readonly string[];
  readonly loggers?: readonly string[];
  readonly expires?: Date;
}
