/** An error of the server, or of the way to it: then the code is `unavailable`. */
export class ActuatorError extends Error {
  constructor({ code = "unknown", message = "", details = [] }) {
    super(message);
    this.code = code;
    // The text form of google.rpc.ErrorInfo; `value` beside it is the same in protobuf.
    this.info = details.find(({ type }) => type === "google.rpc.ErrorInfo")?.debug;
  }
}

/** The Connect protocol in JSON, by `fetch` alone. */
export class Actuator {
  #address;
  #token;

  constructor(address, token) {
    this.#address = address;
    this.#token = token;
  }

  /** Such as `call("LoggersService/GetLogger", { name: "ROOT" })`. */
  async call(method, request = {}) {
    const body = JSON.stringify(request);
    const response = await this.#post(method, "application/json", body, { "Connect-Timeout-Ms": "30000" });
    const answer = await response.json();
    if (!response.ok) throw new ActuatorError(answer);
    return answer;
  }

  /** The events of a watch, until it ends or `signal` aborts. */
  async *watch(method, request = {}, signal = undefined) {
    const response = await this.#post(method, "application/connect+json", enveloped(request), {}, signal);
    if (!response.ok) throw new ActuatorError(await response.json());
    for await (const { isEnd, message } of envelopes(response.body)) {
      if (!isEnd) yield message;
      else if (message.error) throw new ActuatorError(message.error);
    }
  }

  async #post(method, type, body, more, signal) {
    const headers = { "Content-Type": type, "Connect-Protocol-Version": "1", ...more };
    if (this.#token) headers.Authorization = `Bearer ${this.#token}`;
    try {
      return await fetch(`${this.#address}/actuator.v3.${method}`, { method: "POST", headers, body, signal });
    } catch (error) {
      throw new ActuatorError({ code: "unavailable", message: error.message });
    }
  }
}

/** A message of a stream: a byte of flags, four of length, and JSON. */
function enveloped(message) {
  const json = new TextEncoder().encode(JSON.stringify(message));
  const bytes = new Uint8Array(5 + json.length);
  new DataView(bytes.buffer).setUint32(1, json.length);
  bytes.set(json, 5);
  return bytes;
}

const END = 0b10;

async function* envelopes(body) {
  let rest = new Uint8Array(0);
  for await (const chunk of chunks(body)) {
    const bytes = new Uint8Array(rest.length + chunk.length);
    bytes.set(rest);
    bytes.set(chunk, rest.length);
    rest = bytes;
    while (rest.length >= 5) {
      const length = new DataView(rest.buffer, rest.byteOffset).getUint32(1);
      if (rest.length < 5 + length) break;
      const message = JSON.parse(new TextDecoder().decode(rest.subarray(5, 5 + length)));
      yield { isEnd: (rest[0] & END) !== 0, message };
      rest = rest.subarray(5 + length);
    }
  }
}

/** What Safari's streams cannot do by `for await`. */
async function* chunks(body) {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } catch (error) {
    throw new ActuatorError({ code: "unavailable", message: error.message });
  } finally {
    reader.cancel().catch(() => undefined);
  }
}
