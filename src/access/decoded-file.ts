import { resolve } from "node:path";
import { readBounded, readBoundedSync } from "../common/files/bounded-file.ts";
import { FollowedFiles } from "../common/files/followed-files.ts";

/** How a file is read. */
export interface DecodedFileOptions<Value> {
  readonly maxBytes: number;
  /** What the bytes mean, where they meant `before` until now. What it throws says that they make no sense. */
  readonly decode: (bytes: Uint8Array, before: Value | undefined) => Value;
  /** Turns what keeps the file from being used into an error that says which option that is. */
  readonly unusable: (path: string, cause: unknown) => Error;
  readonly onError: (error: unknown) => void;
}

/** What a file means now; where it cannot be read or makes no sense, what it meant before. */
export class DecodedFile<Value> {
  readonly #file: FollowedFiles<Buffer>;
  #value: Value;

  /** @throws the error of `unusable` where the file cannot be used */
  constructor(path: string, { maxBytes, decode, unusable, onError }: DecodedFileOptions<Value>) {
    const absolute = resolve(path);
    try {
      const content = readBoundedSync(absolute, maxBytes);
      this.#value = decode(content, undefined);
      this.#file = new FollowedFiles([absolute], {
        content,
        read: () => readBounded(absolute, maxBytes),
        onChange: (content) => {
          this.#value = decode(content, this.#value);
        },
        onError: (error) => onError(unusable(absolute, error)),
      });
    } catch (error) {
      throw unusable(absolute, error);
    }
  }

  get value(): Value {
    return this.#value;
  }

  /** Reads the file now; resolves when it is known what it means. */
  check(): Promise<void> {
    return this.#file.check();
  }

  close(): void {
    this.#file.close();
  }
}
