import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, SignJWT } from "jose";
import { onTestFinished } from "vitest";

/** A key that signs, and what a set of keys has of it. */
export interface SigningKey {
  readonly publicJwk: JWK;
  /** A JWT of the issuer for the audience that expires in a minute, but for what is given. */
  sign(claims?: Readonly<Record<string, unknown>>, header?: Partial<JWTHeaderParameters>): Promise<string>;
}

export const ISSUER = "https://id.example";
export const AUDIENCE = "orders";

/** Makes a key. */
export async function signingKey(kid: string, alg = "ES256"): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return {
    publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" },
    sign: (claims = {}, header = {}) => {
      const exp = Math.floor(Date.now() / 1_000) + 60;
      const all = { iss: ISSUER, aud: AUDIENCE, sub: "alice", permissions: ["info:read"], exp, ...claims };
      // JSON leaves out what is undefined.
      return new SignJWT(JSON.parse(JSON.stringify(all))).setProtectedHeader({ alg, kid, ...header }).sign(privateKey);
    },
  };
}

/** An identity provider's set of keys, served for real. */
export interface JwksServer {
  readonly url: string;
  /** How often it was asked. */
  readonly requests: () => number;
  /** What it answers from now on. */
  answer(how: JWK[] | ((request: IncomingMessage, response: ServerResponse) => void)): void;
}

/** Starts one for the time of a test. */
export async function jwksServer(keys: JWK[]): Promise<JwksServer> {
  let requests = 0;
  const serve =
    (keys: JWK[]) =>
    (_: IncomingMessage, response: ServerResponse): void => {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ keys }));
    };
  let answer = serve(keys);
  const server = createServer((request, response) => {
    requests++;
    answer(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`,
    requests: () => requests,
    answer(how) {
      answer = typeof how === "function" ? how : serve(how);
    },
  };
}
