import { graphPictures, sentOnly } from "../../../../support/graph-picture.ts";

export { until } from "../../../../support/until.ts";

export const { picture } = graphPictures({
  label: ({ componentType, name }) => `${componentType.replace("kafka:", "")} ${name}`,
  numbers: sentOnly,
});
