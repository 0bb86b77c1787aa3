// The modules of Node.js for HTTP and TLS, each loaded at its first use; an `import` would load them with this package. That of
// `node:http` would load undici, too, because naming the exports of a module runs the getter of `WebSocket`: 18 MB instead of 3.

export const nodeHttp = () => process.getBuiltinModule("node:http");
export const nodeHttps = () => process.getBuiltinModule("node:https");
export const nodeHttp2 = () => process.getBuiltinModule("node:http2");
export const nodeTls = () => process.getBuiltinModule("node:tls");
