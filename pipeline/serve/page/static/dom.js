// Elements and words. Texts of documents come into the page here, and only as text.

/** Return the element with an id. */
export const at = (id) => document.getElementById(id);

/**
 * Make an element. `properties` are DOM properties; names with a hyphen are attributes. Children are elements or texts;
 * null, undefined and false are left out.
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Make an element around a text from outside, whose direction doesn't affect what stands beside it. */
export const foreign = (text, properties = {}) => make("bdi", properties, String(text));

/** Return a number for people. */
export const number = (value) => value.toLocaleString("en");

/** Return a count with its word: "1 hit", "2 hits". */
export const plural = (count, word, words = `${word}s`) => `${number(count)} ${count === 1 ? word : words}`;

/** Return a share of one as a percentage. */
export const percent = (share) => `${Math.round(100 * share)}%`;

/** Make a message for a place that has nothing to show; `fix` says what to do, `command` is what to run. */
export function empty(title, fix = "", command = "") {
  return make(
    "div", { className: "empty" },
    make("p", { className: "empty-title" }, title),
    fix && make("p", {}, fix),
    command && make("pre", { tabIndex: 0 }, command),
  );
}

/** Make the message of an error. */
export const failure = (error) => empty(error.message, error.fix);
