// The documents of a corpus: a list with pages, and one to read.
import { call, corpusPath, isShown } from "./api.js";
import { empty, failure, foreign, make, plural } from "./dom.js";
import { current, link } from "./route.js";

const PAGE = 20;

/** Make the list of a corpus's documents. It fills itself. */
export function documentList(corpus) {
  const rows = make("ul", { className: "documents" });
  const next = make("button", { type: "button", hidden: true }, "Next page");
  const first = make("button", { type: "button", hidden: true }, "First page");
  const prefix = make("input", { type: "search", placeholder: "Keys that begin with …", "aria-label": "Keys that begin with", autocomplete: "off" });
  const load = async (after = "") => {
    const params = new URLSearchParams({ prefix: prefix.value, after, limit: PAGE });
    try {
      const page = await call(corpusPath(corpus, `/documents?${params}`));
      rows.replaceChildren(...page.documents.map((entry) => row(corpus, entry)));
      if (!page.documents.length) rows.append(make("li", {}, empty("There is no such document.")));
      next.hidden = page.next === null;
      first.hidden = after === "";
      next.onclick = () => load(page.next);
    } catch (error) {
      if (!isShown(error)) rows.replaceChildren(make("li", {}, failure(error)));
    }
  };
  first.onclick = () => load();
  prefix.onchange = () => load();
  load();
  return make("section", { className: "card wide" }, make("h3", {}, "Documents"), prefix, rows, make("div", { className: "pager" }, first, next));
}

/** Make a document to read. It fills itself. */
export function documentToRead(corpus, key) {
  const article = make("article", { className: "card wide reading", tabIndex: -1 });
  const back = make("a", { href: link({ ...current(), doc: "" }) }, "All documents");
  const path = corpusPath(corpus, `/documents/${key.split("/").map(encodeURIComponent).join("/")}`);
  call(path).then(
    (found) => article.replaceChildren(back, ...parts(found)),
    (error) => article.replaceChildren(back, isShown(error) ? "" : failure(error)),
  );
  return article;
}

function row(corpus, { key, title }) {
  const title_ = title && title !== key ? title : "";
  return make(
    "li", {},
    make("a", { href: link({ ...current(), corpus, doc: key }) }, foreign(title_ || key)),
    title_ && make("span", { className: "source" }, foreign(key)),
  );
}

function parts({ key, title, metadata, text, chunks }) {
  const fields = [["key", key], ["passages", chunks.length], ...Object.entries(metadata)];
  return [
    make("h3", {}, foreign(title || key)),
    make("dl", { className: "fields" }, fields.filter(([, value]) => value !== "").flatMap(([name, value]) => [
      make("dt", {}, foreign(name)),
      make("dd", {}, foreign(typeof value === "object" ? JSON.stringify(value) : value)),
    ])),
    make("p", { className: "whole", dir: "auto" }, text),
    make("p", { className: "hint" }, plural(text.length, "character")),
  ];
}
