/** `node bench/servers/express-redis.ts <redis url> attached|bare`: an Express application whose sessions are in Redis. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { RedisStore } from "connect-redis";
import express from "express";
import session from "express-session";
import { createClient } from "redis";
import { connectRedisSessions } from "../../src/adapters/sessions/connect-redis/index.ts";
import { serving } from "../support/serve.ts";

declare module "express-session" {
  interface SessionData {
    visits?: number;
  }
}

const [url, role] = process.argv.slice(2);
const client = createClient({ url: url! });
await client.connect();
const store = new RedisStore({ client, prefix: `${role}:` });
if (role === "attached") connectRedisSessions(store);

const app = express();
app.use(
  session({ store, cookie: { maxAge: 1_800_000 }, secret: "of a benchmark", resave: false, saveUninitialized: false }),
);
let users = 0;
app.post("/login", (request, response) => {
  Object.assign(request.session, { user: { username: `user-${users++ % 10_000}`, roles: ["reader", "writer"] } });
  response.end();
});
app.get("/visit", (_request, response) => {
  response.end();
});
app.post("/change", (request, response) => {
  request.session.visits = (request.session.visits ?? 0) + 1;
  response.end();
});
const server = createServer(app).listen(0, "127.0.0.1", () => serving((server.address() as AddressInfo).port));
