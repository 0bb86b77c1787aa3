import { resolve } from "node:path";
import { readBounded, readBoundedSync } from "../common/files/bounded-file.ts";
import { FollowedFiles } from "../common/files/followed-files.ts";

/** How a {@link DecodedFile} reads its file. */
export interface DecodedFileOptions<Value> {
  readonly maxBytes: number;
  /** Decodes the content; `before` is the previous value. Throws if the content is invalid. */
  readonly decode: (bytes: Uint8Array, before: Value | undefined) => Value;
  /** Turns the cause why the file cannot be used into an error that names the option. */
  readonly toError: (path: string, cause: unknown) => Error;
  readonly onError: (error: unknown) => void;
  /** Called after each reading, also if the content is the same. */
  readonly onRead?: () => void;
}

/** The decoded content of a file that is followed. While the file cannot be read or decoded, the last value stays. */
export class DecodedFile<Value> {
  readonly #file: FollowedFiles<Buffer>;
  #value: Value;

  /** @throws the error of `toError` if the file cannot be used */
  constructor(path: string, { maxBytes, decode, toError, onError, onRead }: DecodedFileOptions<Value>) {
    const absolute = resolve(path);
    try {
      const content = readBoundedSync(absolute, maxBytes);
      this.#value = decode(content, undefined);
      this.#file = new FollowedFiles([absolute], {
        content,
        read: async () => {
          const bytes = await readBounded(absolute, maxBytes);
          onRead?.();
          return bytes;
        },
        onChange: (content) => {
          this.#value = decode(content, this.#value);
        },
        onError: (error) => onError(toError(absolute, error)),
      });
      onRead?.();
    } catch (error) {
      throw toError(absolute, error);
    }
  }

  get value(): Value {
    return this.#value;
  }

  /** Reads the file now. Resolves when {@link value} is current. */
  check(): Promise<void> {
    return this.#file.check();
  }

  close(): void {
    this.#file.close();
  }
}
