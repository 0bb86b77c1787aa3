import { type DescFile, type DescMessage, toBinary } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";

/** The files of a schema, found by path and by what they declare. */
export interface Descriptors {
  /** The serialised file of this path, and after it everything that it imports; undefined where there is none. */
  byPath(path: string): readonly Uint8Array[] | undefined;
  /** The same for the file that declares this full name. */
  bySymbol(name: string): readonly Uint8Array[] | undefined;
  /** Whether a message of this full name is declared. */
  hasMessage(name: string): boolean;
}

/** Everything that the given files and their imports declare. */
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
      // A value's name lives beside its enum and not in it, as in C++.
      const scope = type.parent?.typeName ?? file.proto.package;
      yield* type.values.map((value) => (scope === "" ? value.name : `${scope}.${value.name}`));
    }
  }
}

function memberNames(message: DescMessage): string[] {
  return [...message.fields, ...message.oneofs].map((member) => `${message.typeName}.${member.name}`);
}
