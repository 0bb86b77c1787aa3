import type { ActuatorSessionsOptions } from "../../actuator-options.ts";
import type { AttributeNamesOptions } from "../../sessions/sessions.ts";
import { CODE, type Notes } from "../setting.ts";

/** What is said of the options of attributes. */
export const ATTRIBUTES_NOTES: Notes<AttributeNamesOptions> = {
  allow: { description: "Only these names of attributes are shown. Default: all." },
  deny: { description: "These names of attributes are not shown." },
};

/** What is said of the options of sessions. */
export const SESSIONS_NOTES: Notes<ActuatorSessionsOptions> = {
  store: CODE,
  ids: {
    description: 'What is shown as the id of a session: "hashed", or "raw", which is a credential.',
    kind: "text",
    default: "hashed",
    schema: { enum: ["hashed", "raw"] },
  },
  idKey: {
    description: "The key of the hashes: a random text of 16 characters or more, the same in all instances.",
    kind: "text",
    secret: true,
  },
  maxShown: {
    description: "How many sessions are found again by their hash without asking the store.",
    default: 10_000,
  },
};
