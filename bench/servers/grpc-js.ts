/**
 * `node bench/servers/grpc-js.ts <origin> <logger>`: a bare server of @grpc/grpc-js, with messages of @grpc/proto-loader as its
 * documentation has it, that answers GetLogger from a Map, with the message and the error that the service at the origin answers.
 */
import { join } from "node:path";
import {
  Client,
  credentials,
  type handleUnaryCall,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  type ServiceError,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { serving } from "../support/serve.ts";

const [, , origin, name] = process.argv as [string, string, string, string];
const proto = join(import.meta.dirname, "..", "..", "proto");
const definition = loadSync("actuator/v3/loggers.proto", { includeDirs: [proto] });
const service = definition["actuator.v3.LoggersService"] as ServiceDefinition;
const method = service.GetLogger!;

interface Request {
  readonly name: string;
}

const client = new Client(new URL(origin).host, credentials.createInsecure());
const original = (asked: Request) =>
  new Promise<object>((resolve, reject) => {
    client.makeUnaryRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      asked,
      (error, response) => (error === null ? resolve(response as object) : reject(error)),
    );
  });
const loggers = new Map([[name, await original({ name })]]);
const { code, details, metadata } = await original({ name: `${name}.missing` }).then(
  () => Promise.reject(new Error("an answer for a logger that does not exist")),
  (error: ServiceError) => error,
);
client.close();

const getLogger: handleUnaryCall<Request, object> = ({ request }, answer) => {
  const response = loggers.get(request.name);
  if (response === undefined) answer({ code, details, metadata });
  else answer(null, response);
};
const server = new Server();
server.addService({ GetLogger: method }, { GetLogger: getLogger });
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  serving(port);
});
