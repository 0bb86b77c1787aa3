import { expect, test } from "vitest";
import { emptied, rawClient, serve } from "../support/server-harness.ts";

test.each([
  ["one host", ["Host: localhost", "X-Name: host"], 200],
  ["two hosts", ["Host: localhost", "HOST: evil.example"], 400],
  ["one host twice", ["Host: localhost", "Accept: */*", "Host: localhost"], 400],
] as const)("a request that names %s", async (_, fields, status) => {
  const hosts: (string | undefined)[] = [];
  const { port, listener } = await serve((req, res) => {
    hosts.push(req.headers.host);
    res.end();
  });
  const client = await rawClient(port);
  client.socket.write(["GET / HTTP/1.1", ...fields, "Connection: close", "", ""].join("\r\n"));
  expect(await client.closed).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(hosts).toEqual(status === 200 ? ["localhost"] : []);
  await emptied(listener);
});
