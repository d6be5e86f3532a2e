// The banner: the service is gone, or busy. It says so, tries again, and tells when it is back.
import { at, make } from "./dom.js";
import { troubles } from "./api.js";
import { askForToken } from "./token.js";

const POLL_MILLISECONDS = 1500;
const LEAST_WAIT_SECONDS = 2;

let timer = 0;

/** Show the service's troubles; `again` is called when the page should ask again what it had asked. */
export function watchTroubles(again) {
  troubles.addEventListener("gone", () => {
    if (timer) return;
    show("The service can't be reached.", "What you typed stays. The page asks again until it is back.");
    poll(again);
  });
  troubles.addEventListener("wait", ({ detail }) => {
    if (!timer) count(Math.max(detail.seconds, LEAST_WAIT_SECONDS), detail, again);
  });
  troubles.addEventListener("token", ({ detail }) => askForToken(detail.message, again));
}

function poll(again) {
  timer = setTimeout(async () => {
    const back = await fetch("health", { cache: "no-store" }).then((answer) => answer.ok, () => false);
    if (back) recover(again);
    else poll(again);
  }, POLL_MILLISECONDS);
}

function count(seconds, error, again) {
  if (seconds === 0) {
    recover(again);
    return;
  }
  show(error.message, `The page asks again in ${seconds} s.`);
  timer = setTimeout(() => count(seconds - 1, error, again), 1000);
}

function recover(again) {
  timer = 0;
  at("banner").hidden = true;
  again();
}

function show(title, text) {
  at("banner").replaceChildren(make("strong", {}, title), " ", make("span", {}, text));
  at("banner").hidden = false;
}
