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

/**
 * An error that the caller of an operation can understand and act on.
 *
 * `message` is written for that caller and never carries a secret or an internal name. `reason` is stable, for programs
 * (`UPPER_SNAKE_CASE`, as in google.rpc.ErrorInfo); `metadata` says what it is about, such as `{ field: "level" }`.
 */
export class ActuatorError extends Error {
  override readonly name = "ActuatorError";
  readonly code: ErrorCode;
  readonly reason: string;
  readonly metadata: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    reason: string,
    message: string,
    metadata: Readonly<Record<string, string>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.code = code;
    this.reason = reason;
    this.metadata = metadata;
  }
}
