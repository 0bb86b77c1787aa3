import { useEffect } from "preact/hooks";

const SYMBOLS: Readonly<Record<string, string>> = {
  message_channel: "channel",
  executor_channel: "channel",
  reactive_channel: "channel",
  pollable_channel: "queue",
  publish_subscribe_channel: "topic",
  null_channel: "null-channel",
  filter: "filter",
  header_filter: "filter",
  router: "router",
  recipient_list_router: "router",
  scatter_gather: "router",
  splitter: "splitter",
  aggregator: "aggregator",
  barrier: "aggregator",
  resequencer: "resequencer",
  delayer: "delayer",
  chain: "chain",
  transformer: "transformer",
  claim_check_in: "transformer",
  claim_check_out: "transformer",
  header_enricher: "enricher",
  content_enricher: "enricher",
  service_activator: "service-activator",
  inbound_gateway: "gateway",
  outbound_gateway: "gateway",
  inbound_channel_adapter: "adapter-in",
  outbound_channel_adapter: "adapter-out",
  bridge: "bridge",
  message_store: "store",
};

/** The symbol of an enterprise integration pattern, `group` for collapsed nodes, or `error_channel` for a channel that failures go to. */
export function patternSymbol(pattern: string): string {
  const own = { group: "group", error_channel: "error-channel", dead_letter: "dead-letter" }[pattern];
  return `eip-${own ?? SYMBOLS[pattern] ?? "unknown"}`;
}

let isAsked = false;

/** Puts the symbols into the page, once: a style reaches into them only there. */
export function usePatternSymbols(): void {
  useEffect(() => {
    if (isAsked) return;
    isAsked = true;
    void import("../styles/pattern-symbols.svg?raw").then(({ default: source }) => {
      const { documentElement } = new DOMParser().parseFromString(source, "image/svg+xml");
      document.body.prepend(document.importNode(documentElement, true));
    });
  }, []);
}

/** The symbol of a pattern, for the eye only: the text beside it says the same. */
export function PatternIcon({ pattern, look = "" }: { pattern: string; look?: string }) {
  usePatternSymbols();
  return (
    <svg class={`i i24 ${look}`} aria-hidden="true">
      <use href={`#${patternSymbol(pattern)}`} />
    </svg>
  );
}
