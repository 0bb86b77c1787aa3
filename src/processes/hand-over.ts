/** The method of an actuator that serves a connection which `connect-actuator/auto` has accepted, also of another copy of the package. */
export const TAKE: unique symbol = Symbol.for("connect-actuator.take");

/** Where `connect-actuator/auto` puts the function that is called with each actuator that the application makes, and its options. */
export const CREATED: unique symbol = Symbol.for("connect-actuator.created");

/** Where the one that runs in a process is found, also by another copy of the package. */
export const AUTO: unique symbol = Symbol.for("connect-actuator.auto");

/** Where the actuator is found that the application has made last, and its options, as long as it is not closed. */
export const MADE: unique symbol = Symbol.for("connect-actuator.made");
