/** Prints what an actuator has loaded of Node.js that costs much, after an answer over REST and a call over HTTP/1.1. */
import { createActuator } from "connect-actuator";

const { request } = process.getBuiltinModule("node:http");
const actuator = createActuator({ loggers: {}, access: "loopback", audit: false });
const { port } = await actuator.listen({ port: 0 });
const headers = { "content-type": "application/json" };
const getLogger = { method: "POST", path: "/actuator.v3.LoggersService/GetLogger", headers };
const statuses = [await ask({ path: "/actuator/loggers" }), await ask(getLogger, '{"name":"ROOT"}')];
await actuator.close();
const heavy = /NativeModule (?:http2|https|tls|internal\/deps\/undici\/undici)$/;
console.log(JSON.stringify({ statuses, loaded: process.moduleLoadList.filter((name) => heavy.test(name)) }));

function ask(options, body) {
  return new Promise((resolve, reject) => {
    const sent = request({ port, agent: false, ...options }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode));
    });
    sent.once("error", reject).end(body);
  });
}
