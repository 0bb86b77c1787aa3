/** The address of a broker as adapters of libraries name it. They know the socket's: one opened to "localhost" is at 127.0.0.1. */
export function brokerAddress(host: string | undefined, port: unknown): string | undefined {
  if (host === undefined) return undefined;
  const plain = host === "localhost" ? "127.0.0.1" : host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  const number = Number(port);
  return Number.isInteger(number) && number > 0 ? `${plain}:${number}` : plain;
}
