/** What went wrong, in the field's terms (gRPC's status names). Each face maps these to its own codes in one table. */
export type ErrorCode =
  | "INVALID_ARGUMENT"
  | "UNAUTHENTICATED"
  | "PERMISSION_DENIED"
  | "NOT_FOUND"
  | "FAILED_PRECONDITION"
  | "RESOURCE_EXHAUSTED"
  | "UNIMPLEMENTED"
  | "UNAVAILABLE";

/** One thing that is wrong with options or a configuration. */
export interface Fault {
  /** Where it is: an option such as `createActuator.limits`, a place such as `actuator.yaml:3:5`, or a variable of the environment. */
  readonly at: string;
  /** What is wrong, without secrets. */
  readonly message: string;
  /** The setting that it is about, such as `limits.maxConnections`; empty if it is about a source as a whole. */
  readonly setting?: string | undefined;
}

/**
 * An error that the caller of an operation can understand and act on.
 *
 * `message` is written for that caller and never carries a secret or an internal name. `reason` is stable, for programs
 * (`UPPER_SNAKE_CASE`, as in google.rpc.ErrorInfo); `metadata` says what it is about, such as `{ field: "level" }`.
 *
 * @example
 * ```ts
 * try {
 *   createActuator(options);
 * } catch (error) {
 *   if (error instanceof ActuatorError) console.error(error.code, error.faults);
 * }
 * ```
 */
export class ActuatorError extends Error {
  override readonly name = "ActuatorError";
  readonly code: ErrorCode;
  readonly reason: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Everything that is wrong with options or a configuration; empty for other errors. */
  readonly faults: readonly Fault[];

  constructor(
    code: ErrorCode,
    reason: string,
    message: string,
    metadata: Readonly<Record<string, string>> = {},
    { faults = [], ...options }: ErrorOptions & { readonly faults?: readonly Fault[] } = {},
  ) {
    super(message, options);
    this.code = code;
    this.reason = reason;
    this.metadata = metadata;
    this.faults = faults;
  }
}
