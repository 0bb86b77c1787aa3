/** An application of NestJS that has connect itself: it serves its own service, calls the actuator's, and imports every subpath. */
import "reflect-metadata";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { connectNodeAdapter, createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { ConsoleLogger, Logger, Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { ACTUATOR, ActuatorModule, nestjsLoggers } from "connect-actuator/nestjs";
import { LoggersService } from "./gen/actuator/v3/loggers_pb.ts";
import { ErrorInfoSchema } from "./gen/google/rpc/error_details_pb.ts";
import { Health } from "./gen/grpc/health/v1/health_pb.ts";

const { exports } = JSON.parse(readFileSync("node_modules/connect-actuator/package.json", "utf8"));
const subpaths = Object.keys(exports).filter((each) => !each.endsWith(".json"));
for (const subpath of subpaths) await import(`connect-actuator${subpath.slice(1)}`);

class AppModule {}
const adapters = [nestjsLoggers({ Logger, ConsoleLogger })];
const access = "loopback";
Module({ imports: [ActuatorModule.forRoot({ loggers: { adapters }, access, audit: false })] })(AppModule);
const app = await NestFactory.createApplicationContext(AppModule, { logger: ["error"] });
new Logger("OrdersService").debug("found when it is first used");
const actuator = app.get(ACTUATOR);
const { url } = await actuator.listen({ port: 0 });

const own = connectNodeAdapter({
  routes: ({ service }) => service(Health, { check: () => ({ status: 1 }) }),
  fallback: actuator.handler,
});
const server = createServer(own).listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const baseUrl = `http://127.0.0.1:${server.address().port}`;
const overConnect = createConnectTransport({ baseUrl, httpVersion: "1.1" });
const overGrpc = createGrpcTransport({ baseUrl: url });

const { status } = await createClient(Health, overConnect).check({});
const answers = [];
for (const transport of [overConnect, overGrpc]) {
  const loggers = createClient(LoggersService, transport);
  const { result } = await loggers.getLogger({ name: "OrdersService" });
  const error = await loggers.setLoggerLevel({ name: "" }).catch((error) => error);
  answers.push({
    name: result.value.name,
    refused: error instanceof ConnectError && error.code === Code.InvalidArgument,
    details: error.findDetails(ErrorInfoSchema).length,
  });
}
server.close();
await app.close();
console.log(JSON.stringify({ subpaths: subpaths.length, status, answers }));
