// Requests to the service. Whoever listens to `troubles` hears of those that concern the whole page.
import { token } from "./token.js";

/** Sends "gone" if the service can't be reached, "wait" if it is busy, "token" if it wants one; `detail` is the error. */
export const troubles = new EventTarget();

const BUSY = [429, 503];

/** An answer other than success, as the service words it. */
export class Problem extends Error {
  constructor(status, { detail = `The service answered ${status}.`, fix = "" } = {}, seconds = 0) {
    super(detail);
    this.status = status;
    this.fix = fix;
    this.seconds = seconds;
  }
}

/** The service can't be reached. */
export class Gone extends Error {
  constructor() {
    super("The service can't be reached.");
    this.fix = "The page goes on when it is back.";
  }
}

/** Return whether the page's banner or dialog shows this error already, or nobody waits for the answer any more. */
export const isShown = (error) =>
  error.name === "AbortError" || error instanceof Gone || BUSY.includes(error.status) || error.status === 401;

/** Send a request and return the JSON of its answer. Throws Problem, Gone, or AbortError by `signal`. */
export async function call(path, { method = "GET", body, signal } = {}) {
  const response = await send(path, { method, body, signal });
  try {
    return response.status === 204 ? null : await response.json();
  } catch (error) {
    throw reported(error.name === "AbortError" ? error : new Gone());
  }
}

/** Yield the events, `{event, data}`, of a stream of server-sent events. EventSource can't send a token. */
export async function* events(path, { method = "GET", body, signal } = {}) {
  const response = await send(path, { method, body, signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split(/\r?\n\r?\n/);
    rest = blocks.pop();
    for (const block of blocks) {
      const lines = block.split(/\r?\n/);
      const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5));
      const event = lines.find((line) => line.startsWith("event:"))?.slice(6).trim() ?? "message";
      if (data.length) yield { event, data: JSON.parse(data.join("\n")) };
    }
  }
}

/** Search, with the excerpt of each hit. */
export const search = (body, signal) => call("v1/search", { method: "POST", body: { ...body, excerpts: true }, signal });

/** Return the path of a corpus's route. */
export const corpusPath = (corpus, rest = "") => `v1/corpora/${encodeURIComponent(corpus)}${rest}`;

async function send(path, { method = "GET", body, signal }) {
  const headers = {};
  const used = token();
  if (used) headers.Authorization = `Bearer ${used}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, { method, headers, body: body && JSON.stringify(body), signal, cache: "no-store" });
  } catch (error) {
    throw reported(error.name === "AbortError" ? error : new Gone());
  }
  // The token was entered while the service refused what had been sent before.
  if (response.status === 401 && token() !== used) return send(path, { method, body, signal });
  if (!response.ok) throw reported(await problemOf(response));
  return response;
}

async function problemOf(response) {
  const body = await response.json().catch(() => ({}));
  return new Problem(response.status, body, Number(response.headers.get("Retry-After")) || 0);
}

function reported(error) {
  const kind = error instanceof Gone ? "gone" : BUSY.includes(error.status) ? "wait" : error.status === 401 ? "token" : "";
  if (kind) troubles.dispatchEvent(new CustomEvent(kind, { detail: error }));
  return error;
}
