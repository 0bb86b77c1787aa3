/** An application that brings neither pino nor express-session. */
import { createActuator } from "connect-actuator";

const actuator = createActuator({ loggers: { adapters: [] } });
const { port } = await actuator.listen({ port: 0 });
const answer = await fetch(`http://127.0.0.1:${port}/actuator/loggers/ROOT`);
const call = await fetch(`http://127.0.0.1:${port}/actuator.v3.LoggersService/GetLogger`, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: '{"name":"ROOT"}',
});
await actuator.close();
console.log(JSON.stringify({ status: answer.status, rpc: call.status }));
