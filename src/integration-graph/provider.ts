/** Who provides the graph: this package. A test keeps the version equal to the one in package.json. */
export const PROVIDER = { provider: "connect-actuator", providerVersion: "0.1.0", providerFormatVersion: 1.2 } as const;
