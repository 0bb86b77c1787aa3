/** What is wrong with a request, as HTTP and as gRPC number it. */
export class OtlpProblem extends Error {
  override readonly name = "OtlpProblem";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** The codes of gRPC that stand for these; 3, INVALID_ARGUMENT, for all others. */
const CODES: { readonly [status: number]: number } = { 408: 4, 413: 8, 429: 8, 500: 13, 503: 14 };

/** The code of gRPC that stands for a status of HTTP. */
export function codeOf(status: number): number {
  return CODES[status] ?? 3;
}
