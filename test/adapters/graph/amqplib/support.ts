import { graphPictures } from "../../../support/graph-picture.ts";

export { until } from "../../../support/until.ts";

export const { picture, nodeOf } = graphPictures({
  label: ({ componentType, name }) => `${componentType.replace("amqp:", "")} ${name}`,
});
