import { type Method, replaceMethod } from "../../../kit/interception/replaced-method.ts";

/** Until when a wrapper takes note: one that somebody else wrapped stays in place after the adapter is detached. */
export interface Watching {
  live: boolean;
}

/** Replaces a method of a plain object, where it stays as visible as it was: applications copy clients of kafkajs. */
export function replaceListed(object: object, name: string, make: (method: Method) => Method): () => void {
  const listed = Object.prototype.propertyIsEnumerable.call(object, name);
  const restore = replaceMethod(object, name, make);
  if (listed) Object.defineProperty(object, name, { enumerable: true });
  return restore;
}
