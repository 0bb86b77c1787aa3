import type { DescService } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import type { Permission } from "../access/permission.ts";
import type { ToolName } from "./names.ts";

/** A JSON Schema. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Makes clients of the services of an actuator, in this process or in another. */
export type Clients = <S extends DescService>(service: S) => Client<S>;

/** What a tool gets besides its arguments. */
export interface ToolCall {
  readonly clients: Clients;
  /** Aborted when the client has gone or cancelled the call. */
  readonly signal: AbortSignal;
  /** Tells the client how far the call is, if it wants to know. */
  progress(done: number, total: number): void;
}

/** One tool. */
export interface Tool<Arguments = never> {
  readonly name: ToolName;
  readonly title: string;
  readonly description: string;
  /** The services that it calls. */
  readonly services: readonly DescService[];
  /** The permissions that a caller needs, all of them. */
  readonly permissions: readonly Permission[];
  /** Whether it changes something. */
  readonly writes: boolean;
  /** Whether it may undo what others did. */
  readonly destroys?: boolean;
  /** Whether calling it again changes nothing more. */
  readonly idempotent?: boolean;
  /** The properties of the arguments, and which are required. */
  readonly input: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  /** The properties of the result, and which may be missing. */
  readonly output: Readonly<Record<string, JsonSchema>>;
  readonly optional?: readonly string[];
  /** @throws ActuatorError, ConnectError */
  run(args: Arguments, call: ToolCall): Promise<Readonly<Record<string, unknown>>>;
}

/** The hints for clients. What a tool reads and changes is in the application. */
export function annotationsOf({ title, writes, destroys = false, idempotent = false }: Tool) {
  return {
    title,
    readOnlyHint: !writes,
    destructiveHint: destroys,
    idempotentHint: !writes || idempotent,
    openWorldHint: false,
  };
}

/** The schema of the arguments. */
export function inputSchemaOf({ input, required = [] }: Tool): JsonSchema {
  return { type: "object", properties: input, required, additionalProperties: false };
}

/** The schema of the result. */
export function outputSchemaOf({ output, optional = [] }: Tool): JsonSchema {
  const required = Object.keys(output).filter((name) => !optional.includes(name));
  return { type: "object", properties: output, required };
}
