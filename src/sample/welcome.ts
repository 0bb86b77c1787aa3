import { styleText } from "node:util";

/** The addresses of the two servers of the sample. */
export interface Addresses {
  /** The actuator, such as `http://127.0.0.1:9001`. */
  readonly actuator: string;
  /** The shop, such as `http://127.0.0.1:8080`. */
  readonly shop: string;
}

/** The address that the command line calls by default. */
const DEFAULT_URL = "http://127.0.0.1:9001";

/** The text that the sample prints when it has started: commands to paste into another terminal, and what each does. */
export function welcome({ actuator, shop }: Addresses): string {
  const url = actuator === DEFAULT_URL ? "" : ` --url ${actuator}`;
  const pad = (text: string) => " ".repeat(Math.max(shop.length, actuator.length) - text.length);
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
    `  ${dot("green")} ${bold("shop")}      ${address(shop)}${pad(shop)}  ${dim("a small shop with customers of its own")}`,
    `  ${dot("blue")} ${bold("actuator")}  ${address(actuator)}${pad(actuator)}  ${dim("manages it while it runs")}`,
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
