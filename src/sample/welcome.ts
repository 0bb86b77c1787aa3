/** Where the two servers of the sample are reached. */
export interface Addresses {
  /** The actuator, such as `http://127.0.0.1:9001`. */
  readonly actuator: string;
  /** The shop, such as `http://127.0.0.1:8080`. */
  readonly shop: string;
}

/** What the sample prints when it has started: lines to paste into another terminal, and what each shows. */
export function welcome({ actuator, shop }: Addresses): string {
  const hostAndPort = new URL(actuator).host;
  const rpc = `npx buf curl --http2-prior-knowledge ${actuator}/actuator.v3`;
  const examples: readonly (readonly [what: string, line: string])[] = [
    ["all that can be managed", `curl ${actuator}/actuator`],
    ["every logger with its level", `curl ${actuator}/actuator/loggers`],
    ["orders at DEBUG: watch them appear below", setLevel(`${actuator}/actuator/loggers/shop.orders`, '"DEBUG"')],
    ["orders inherit their level again", setLevel(`${actuator}/actuator/loggers/shop.orders`, "null")],
    ["a group: all that deals with money, at once", setLevel(`${actuator}/actuator/loggers/money`, '"TRACE"')],
    ["where Alice is logged in", `curl '${actuator}/actuator/sessions?username=alice'`],
    [
      "log her out: put the id of the answer before in place of ID; she notices below",
      `curl -X DELETE ${actuator}/actuator/sessions/ID`,
    ],
    ["log in yourself", `curl -d username=you ${shop}/login`],
    ["the way of an order, with live numbers", `curl ${actuator}/actuator/integrationgraph`],
    ["the same over gRPC, without a schema", `${rpc}.IntegrationGraphService/GetIntegrationGraph --protocol grpc`],
    ["one logger, over Connect", `${rpc}.LoggersService/GetLogger -d '{"name":"shop"}'`],
    ["all services, over gRPC", `grpcurl -plaintext ${hostAndPort} list`],
  ];
  return [
    `A small shop on ${shop}, managed on ${actuator}. Ctrl-C ends it. Paste into another terminal:`,
    "",
    ...examples.flatMap(([what, line]) => [`  # ${what}`, `  ${line}`]),
    "",
    "",
  ].join("\n");
}

function setLevel(url: string, level: string): string {
  return `curl -d '{"configuredLevel":${level}}' -H 'Content-Type: application/json' ${url}`;
}
