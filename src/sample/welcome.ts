import { styleText } from "node:util";

/** Where the sample can be reached. */
export interface Addresses {
  /** The actuator, such as `http://127.0.0.1:9001`. */
  readonly actuator: string;
  /** The shop, such as `http://127.0.0.1:8080`. */
  readonly shop: string;
  /** The actuator's page, such as `http://127.0.0.1:9001/actuator/ui/`; undefined if it is not served. */
  readonly page: string | undefined;
}

/** The address that the command line calls by default. */
const DEFAULT_URL = "http://127.0.0.1:9001";

/** The text that the sample prints when it has started: commands to paste into another terminal, and what each does. */
export function welcome({ actuator, shop, page }: Addresses): string {
  const url = actuator === DEFAULT_URL ? "" : ` --url ${actuator}`;
  const servers = [
    ...(page === undefined ? [] : [["green", "page", page, "open it: loggers, logs, sessions and the graph"] as const]),
    ["blue", "shop", shop, "a small shop with customers of its own"] as const,
    ["blue", "actuator", actuator, "manages it while it runs"] as const,
  ];
  const width = Math.max(...servers.map(([, , url]) => url.length));
  const command = (words: string) => `npx connect-actuator ${words}${url}`;
  const steps: readonly (readonly [what: string, ...lines: string[]])[] = [
    ["every logger with its level, as a tree", command("loggers list")],
    ["orders at DEBUG for ten minutes: they appear below at once", command("loggers set shop.orders debug --for 10m")],
    [
      "what payments log at DEBUG; Ctrl-C puts the level back",
      command("loggers tail shop.orders.payment --raise debug"),
    ],
    ["the path of an order, with live numbers", command("graph")],
    [
      "where Alice is logged in, then log her out: she notices below",
      command("sessions list alice"),
      command("sessions delete --user alice"),
    ],
    [
      "the same over REST; gRPC, gRPC-Web and Connect answer on this port, too",
      `curl ${actuator}/actuator/loggers/shop.orders`,
    ],
  ];
  return [
    "",
    ...servers.map(
      ([colour, name, url, what]) =>
        `  ${dot(colour)} ${bold(name)}${" ".repeat(10 - name.length)}${address(url)}${" ".repeat(width - url.length)}  ${dim(what)}`,
    ),
    "",
    `  Paste into another terminal:`,
    "",
    ...steps.flatMap(([what, ...lines]) => [dim(`  # ${what}`), ...lines.map((line) => `  ${bold(line)}`), ""]),
    dim("  Ctrl-C ends the shop. Its log:"),
    "",
    "",
  ].join("\n");
}

const styled = (format: Parameters<typeof styleText>[0]) => (text: string) =>
  styleText(format, text, { stream: process.stdout });
const bold = styled("bold");
const dim = styled("dim");
const address = styled(["cyan", "underline"]);
const dot = (colour: "green" | "blue") => styled(colour)("●");
