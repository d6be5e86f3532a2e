// The token of the service: asked for when it answers 401, kept in this tab, and never part of a URL.
import { at } from "./dom.js";

const KEY = "hoprank-token";

/** Return the token, or "" if none is known. */
export const token = () => sessionStorage.getItem(KEY) ?? "";

/** Ask for a token, and say why; `entered` is called when there is one. */
export function askForToken(reason, entered) {
  const dialog = at("token-dialog");
  at("token-reason").textContent = token() ? reason : "This service answers only requests with a token.";
  at("token-form").onsubmit = (event) => {
    event.preventDefault();
    sessionStorage.setItem(KEY, at("token").value.trim());
    at("token").value = "";
    dialog.close();
    entered();
  };
  if (!dialog.open) dialog.showModal();
}
