import type { Library } from "../library.ts";
import { bullmq } from "./bullmq.ts";
import { expressSession } from "./express-session.ts";
import { pino } from "./pino.ts";

/** Every library that is recognised, by the name in the table of watched files. */
export const LIBRARIES = {
  bullmq,
  "express-session": expressSession,
  pino,
} satisfies Readonly<Record<string, Library>>;

/** The name of a library that is recognised. */
export type LibraryName = keyof typeof LIBRARIES;
