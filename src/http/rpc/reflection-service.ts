import type { DescFile, DescService } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import type * as v1 from "../../gen/grpc/reflection/v1/reflection_pb.ts";
import type * as v1alpha from "../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { descriptorsOf } from "./descriptors.ts";

type Request = v1.ServerReflectionRequest | v1alpha.ServerReflectionRequest;
type Answer =
  | { case: "fileDescriptorResponse"; value: { fileDescriptorProto: Uint8Array[] } }
  | { case: "allExtensionNumbersResponse"; value: { baseTypeName: string; extensionNumber: number[] } }
  | { case: "listServicesResponse"; value: { service: { name: string }[] } }
  | { case: "errorResponse"; value: { errorCode: number; errorMessage: string } };

/**
 * `grpc.reflection.v1.ServerReflection` and its twin of `v1alpha`: the two differ in their names alone.
 *
 * @param services what is listed; all that their files and imports declare can be asked for
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
        return fault(Code.InvalidArgument, "The request asks for nothing that is known.");
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
