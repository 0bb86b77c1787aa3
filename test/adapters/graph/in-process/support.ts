import { graphPictures, sentOnly } from "../../../support/graph-picture.ts";

export const { picture, nodeOf } = graphPictures({
  label: ({ componentType, name }) => `${componentType.replace(/^(node|nest):/, "")} ${name}`,
  /** Nothing where no numbers are taken, as of who brings messages in. */
  numbers(node) {
    const { componentType, receiveCounters } = node;
    const received = receiveCounters && `${receiveCounters.successes} received, ${receiveCounters.failures} failed`;
    return componentType === "gateway" ? undefined : [sentOnly(node), received].filter(Boolean).join(", ");
  },
});
