import { type DescFile, type DescMessage, type DescService, toBinary } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import type * as v1 from "../../gen/grpc/reflection/v1/reflection_pb.ts";
import type * as v1alpha from "../../gen/grpc/reflection/v1alpha/reflection_pb.ts";

type Request = v1.ServerReflectionRequest | v1alpha.ServerReflectionRequest;
type Answer =
  | { case: "fileDescriptorResponse"; value: { fileDescriptorProto: Uint8Array[] } }
  | { case: "allExtensionNumbersResponse"; value: { baseTypeName: string; extensionNumber: number[] } }
  | { case: "listServicesResponse"; value: { service: { name: string }[] } }
  | { case: "errorResponse"; value: { errorCode: number; errorMessage: string } };

/**
 * Implements `grpc.reflection.v1.ServerReflection` and its twin `v1alpha`, which differs only in name.
 *
 * @param services the services that are listed; everything in their files and imports can be looked up
 * @param extra files that no service imports but a client may need, such as those of error details
 * @see https://github.com/grpc/grpc/blob/master/doc/server-reflection.md
 */
export function reflectionService(services: readonly DescService[], extra: readonly DescFile[]) {
  const descriptors = descriptorsOf([...services.map((service) => service.file), ...extra]);
  const names = services.map((service) => ({ name: service.typeName }));

  function answer(question: Request["messageRequest"]): Answer {
    switch (question.case) {
      case "listServices":
        return { case: "listServicesResponse", value: { service: names } };
      case "fileByFilename":
        return files(descriptors.byPath(question.value), "No file has this path.");
      case "fileContainingSymbol":
        return files(descriptors.bySymbol(question.value), "No file declares this name.");
      case "allExtensionNumbersOfType":
        return descriptors.hasMessage(question.value)
          ? { case: "allExtensionNumbersResponse", value: { baseTypeName: question.value, extensionNumber: [] } }
          : fault(Code.NotFound, "No message has this name.");
      case "fileContainingExtension":
        return fault(Code.NotFound, "No extension is declared.");
      case undefined:
        return fault(Code.InvalidArgument, "The request asks nothing that this server supports.");
    }
  }

  return {
    async *serverReflectionInfo<R extends Request>(requests: AsyncIterable<R>) {
      for await (const request of requests) {
        yield {
          validHost: request.host,
          originalRequest: request,
          messageResponse: answer(request.messageRequest),
        };
      }
    },
  };
}

function files(found: readonly Uint8Array[] | undefined, fallback: string): Answer {
  if (found === undefined) return fault(Code.NotFound, fallback);
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto: [...found] } };
}

function fault(errorCode: Code, errorMessage: string): Answer {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}

/** The files of a schema, by path and by declared name. */
export interface Descriptors {
  /** The serialized file of this path, followed by its imports; undefined if there is none. */
  byPath(path: string): readonly Uint8Array[] | undefined;
  /** The same for the file that declares this full name. */
  bySymbol(name: string): readonly Uint8Array[] | undefined;
  /** Whether there is a message of this full name. */
  hasMessage(name: string): boolean;
}

/** Indexes files and their imports. */
export function descriptorsOf(roots: readonly DescFile[]): Descriptors {
  const files = new Map<string, DescFile>();
  const symbols = new Map<string, DescFile>();
  const messages = new Set<string>();
  const encoded = new Map<DescFile, Uint8Array>();

  for (const file of new Set(roots.flatMap(withImports))) {
    files.set(file.proto.name, file);
    for (const name of symbolsOf(file)) symbols.set(name, file);
    for (const type of nestedTypes(file)) if (type.kind === "message") messages.add(type.typeName);
  }
  const encode = (file: DescFile) => {
    if (!encoded.has(file)) encoded.set(file, toBinary(FileDescriptorProtoSchema, file.proto));
    return encoded.get(file)!;
  };
  const closure = (file: DescFile | undefined) => file && [...new Set(withImports(file))].map(encode);

  return {
    byPath: (path) => closure(files.get(path)),
    bySymbol: (name) => closure(symbols.get(name)),
    hasMessage: (name) => messages.has(name),
  };
}

function withImports(file: DescFile): DescFile[] {
  return [file, ...file.dependencies.flatMap(withImports)];
}

function* symbolsOf(file: DescFile): Iterable<string> {
  for (const type of nestedTypes(file)) {
    yield type.typeName;
    if (type.kind === "message") yield* memberNames(type);
    if (type.kind === "service") yield* type.methods.map((method) => `${type.typeName}.${method.name}`);
    if (type.kind === "enum") {
      // The scope of a value is that of its enum, as in C++.
      const scope = type.parent?.typeName ?? file.proto.package;
      yield* type.values.map((value) => (scope === "" ? value.name : `${scope}.${value.name}`));
    }
  }
}

function memberNames(message: DescMessage): string[] {
  return [...message.fields, ...message.oneofs].map((member) => `${message.typeName}.${member.name}`);
}
