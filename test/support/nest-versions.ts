import * as nest12 from "@nestjs/common";
import * as nest10 from "nest10";
import * as nest11 from "nest11";
import { onTestFinished } from "vitest";

/** A copy of @nestjs/common. */
export type Nest = typeof nest12;

/** The versions of Nest that the adapter is tested with. */
export const NEST_VERSIONS: readonly (readonly [version: string, nest: Nest])[] = [
  ["10", nest10 as unknown as Nest],
  ["11", nest11 as unknown as Nest],
  ["12", nest12],
];

/** Lets the test change what Nest keeps for the whole process; it is put back when the test ends. */
export function borrowNest({ Logger }: Nest): void {
  const kept = Logger as unknown as { staticInstanceRef: { options: { logLevels: unknown } }; logLevels: unknown };
  const { staticInstanceRef, logLevels } = kept;
  const { options } = staticInstanceRef;
  const own = options.logLevels;
  onTestFinished(() => {
    Object.assign(kept, { staticInstanceRef, logLevels });
    options.logLevels = own;
  });
}
