// Keys: "/" asks, arrows or j and k go through the hits, Escape closes.
import { at } from "./dom.js";

const MOVES = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };

/** Listen to the keyboard. `move(step)` goes through the hits, `close()` closes what is open. */
export function listenToKeys(move, close) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || at("token-dialog").open) return;
    const typing = isField(document.activeElement);
    if (event.key === "Escape") close();
    else if (event.key === "/" && !typing && !at("ask").hidden) take(event, () => at("question").select());
    else if (event.key in MOVES && !at("search").hidden && mayMove(event.key, typing)) take(event, () => move(MOVES[event.key]));
  });
}

function mayMove(key, typing) {
  if (typing) return document.activeElement === at("question") && key === "ArrowDown";
  const within = at("map").contains(document.activeElement);
  return !within && (key.length === 1 || at("hits").contains(document.activeElement));
}

function take(event, act) {
  event.preventDefault();
  act();
}

const isField = (element) => ["INPUT", "SELECT", "TEXTAREA"].includes(element?.tagName);
