import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { open } from "node:fs/promises";

/** Opening something other than a file, such as a pipe without a writer, must not wait. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * What is in a file.
 *
 * @throws the error of the file system, and Error where it is no file or has more than `maxBytes`
 */
export async function readBounded(path: string, maxBytes: number): Promise<Buffer> {
  const file = await open(path, READ);
  try {
    checkBounds(await file.stat(), maxBytes);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** {@link readBounded} without waiting for anything else. */
export function readBoundedSync(path: string, maxBytes: number): Buffer {
  const file = openSync(path, READ);
  try {
    const status = fstatSync(file);
    checkBounds(status, maxBytes);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function checkBounds(status: Stats, maxBytes: number): void {
  if (!status.isFile()) throw new Error("it is not a file");
  if (status.size > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`);
}
