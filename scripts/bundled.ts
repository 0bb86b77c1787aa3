/**
 * The packages whose code stands in `dist` itself, each with its licence in `dist/LICENSES.txt` and in the bill of materials. `@dagrejs/dagre`
 * brings `@dagrejs/graphlib` within its own file; installed, the two are 1.9 MB for 49 KB of code. Connect and Protocol Buffers are 4.9 MB
 * in 600 files, of which a server loads 147, for 0.3 MB of code. No declaration names them, so they may stand beside any version that an
 * application has. Preact and its signals stand in the page for browsers alone.
 */
export const BUNDLED: readonly string[] = [
  "@bufbuild/protobuf",
  "@connectrpc/connect",
  "@connectrpc/connect-node",
  "@dagrejs/dagre",
  "@dagrejs/graphlib",
  "@preact/signals",
  "@preact/signals-core",
  "preact",
];
