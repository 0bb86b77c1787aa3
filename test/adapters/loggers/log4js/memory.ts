import log4js, { type Configuration } from "log4js";

/** The records that really come to the appenders, as `category message`. */
export interface Memory {
  readonly written: string[];
  /** An appender of the application's own, as log4js takes them. */
  readonly appender: { readonly type: { configure(): (event: log4js.LoggingEvent) => void } };
}

export function memory(): Memory {
  const written: string[] = [];
  const record = (event: log4js.LoggingEvent) => void written.push(`${event.categoryName} ${event.data[0]}`);
  return { written, appender: { type: { configure: () => record } } };
}

type Category = string | { readonly level?: string; readonly appenders?: readonly string[] };

/** Configures log4js: each category writes to the memory at its level, or as it says itself. */
export function configure(
  { appender }: Memory,
  categories: Readonly<Record<string, Category>>,
  rest: { readonly appenders?: object; readonly levels?: object } = {},
): void {
  const entries = Object.entries(categories).map(([name, category]) => {
    const { level, appenders = ["memory"] } = typeof category === "string" ? { level: category } : category;
    return [name, { appenders, ...(level === undefined ? {} : { level }) }];
  });
  log4js.configure({
    ...rest,
    appenders: { memory: appender, ...rest.appenders },
    categories: Object.fromEntries(entries),
  } as unknown as Configuration);
}
