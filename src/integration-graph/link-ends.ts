import { invalidDeclaration } from "./invalid.ts";
import type { LinkType } from "./link-type.ts";
import { isChannel, type PatternType } from "./pattern.ts";

interface LinkEnd {
  readonly name: string;
  readonly pattern: PatternType;
}

/** @throws ActuatorError INVALID_ARGUMENT if links of this type do not lead from such a component to such a component. */
export function checkEnds(from: LinkEnd, type: LinkType, to: LinkEnd): void {
  const toChannel = type !== "input";
  // Between two channels only a broker leads: an exchange routes to queues and exchanges, a subject to streams, a stream to
  // those that mirror it; a queue has a dead-letter exchange.
  const fromFits = type === "route" || type === "error" || isChannel(from.pattern) !== toChannel;
  if (isChannel(to.pattern) !== toChannel || !fromFits) {
    throw invalidDeclaration(
      `no "${type}" link can lead from ${from.pattern} "${from.name}" to ${to.pattern} "${to.name}"`,
    );
  }
}
