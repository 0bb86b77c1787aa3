import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type LogRecord as LogRecordProto, LogRecordSchema } from "../../gen/actuator/v3/logs_pb.ts";
import type { RecordError } from "../../loggers/adapter.ts";
import type { LogRecord } from "../../logs/record.ts";
import { levelToProto } from "./logger-proto.ts";

/** Converts a record of a log. Text that is not well-formed Unicode, which Protocol Buffers refuse, would end every watch. */
export function logRecordToProto(record: LogRecord): LogRecordProto {
  const { fields, error, node } = record;
  return create(LogRecordSchema, {
    sequence: BigInt(record.sequence),
    time: timestampFromMs(record.time),
    logger: record.logger,
    level: levelToProto(record.level),
    nativeLevel: record.nativeLevel,
    message: record.message.toWellFormed(),
    fieldsJson: hasKeys(fields) ? JSON.stringify(fields) : "",
    ...(error !== undefined && { error: errorToProto(error) }),
    traceId: record.traceId?.toWellFormed() ?? "",
    spanId: record.spanId?.toWellFormed() ?? "",
    onlyHere: record.onlyHere,
    cut: record.cut,
    kind: record.kind,
    nodeId: node?.id ?? 0,
    node: node?.name ?? "",
  });
}

function errorToProto({ type, message, stack = "" }: RecordError) {
  return { type: type.toWellFormed(), message: message.toWellFormed(), stack: stack.toWellFormed() };
}

function hasKeys(object: object): boolean {
  for (const _ in object) return true;
  return false;
}
