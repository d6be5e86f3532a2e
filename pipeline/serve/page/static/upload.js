// Adding documents: files that are dropped on the page, or chosen, become jobs whose progress is shown.
import { call, events } from "./api.js";
import { at, foreign, make, number, plural } from "./dom.js";
import { leftOut, outcome, progress } from "./jobs.js";
import { link } from "./route.js";

// Of a request; base64 makes a third more of it, and 10 MB are what a service takes unless it is told otherwise.
const MOST_BYTES = 7_000_000;
const MOST_FILES = 2000;

/** Make the form to choose or drop files; `added(corpus)` is called when a job has ended well. */
export function adding(corpus, added) {
  const name = make("input", { value: corpus, autocomplete: "off", spellcheck: false, maxLength: 200, required: true });
  const files = make("input", { type: "file", multiple: true, className: "visually-hidden", "aria-label": "Files to add" });
  files.onchange = () => {
    upload([...files.files].map((file) => ({ key: file.name, file })), name.value.trim() || corpus, added);
    files.value = "";
  };
  const choose = make("button", { type: "button", className: "primary", onclick: () => files.click() }, "Choose files");
  const area = make(
    "div", { className: "drop" },
    make("p", {}, make("strong", {}, "Drop files or folders here"), make("br"), make("span", { className: "hint" }, "Markdown, HTML, PDF, Word, slides, sheets, mail, notebooks, .jsonl, Parquet …")),
    make("div", { className: "drop-choose" }, make("label", {}, "into the corpus ", name), choose, files),
  );
  receive(area, () => name.value.trim() || corpus, added);
  return area;
}

/** Take files that are dropped anywhere on the page. */
export function listenToDrops(corpus, added) {
  let depth = 0;
  const show = (change) => {
    depth = Math.max(0, depth + change);
    at("drop-anywhere").hidden = depth === 0;
  };
  document.addEventListener("dragenter", (event) => hasFiles(event) && show(1));
  document.addEventListener("dragleave", (event) => hasFiles(event) && show(-1));
  document.addEventListener("drop", () => show(-depth), true);
  receive(document, corpus, added);
}

const hasFiles = ({ dataTransfer }) => dataTransfer?.types.includes("Files");

function receive(target, corpus, added) {
  target.addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
  target.addEventListener("drop", async (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    event.stopPropagation();
    // Read now: what was dropped is gone when the event is over.
    const items = [...event.dataTransfer.items].filter((item) => item.kind === "file").map((item) => [item.webkitGetAsEntry(), item.getAsFile()]);
    const found = items.map(([entry, file]) => (entry ? filesIn(entry) : [{ key: file.name, file }]));
    upload((await Promise.all(found)).flat(), corpus(), added);
  });
}

/** Return the files of an entry that was dropped, those of a folder by their paths in it; hidden ones are left out. */
async function filesIn(entry) {
  if (entry.name.startsWith(".")) return [];
  if (entry.isFile) return [{ key: entry.fullPath.replace(/^\/+/, ""), file: await new Promise((resolve, reject) => entry.file(resolve, reject)) }];
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return found;
    for (const one of some) found.push(...(await filesIn(one)));
    if (found.length > MOST_FILES) return found;
  }
}

async function upload(files, corpus, added) {
  if (!files.length) return;
  const large = files.filter(({ file }) => file.size > MOST_BYTES).map(({ key }) => `${key} is larger than 7 MB: ingest it by the command line`);
  const many = files.length > MOST_FILES ? [`only the first ${number(MOST_FILES)} files were taken`] : [];
  const item = make("div", { className: "upload" });
  at("uploads").hidden = false;
  at("uploads").append(item);
  let any = false;
  for (const batch of batches(files.slice(0, MOST_FILES).filter(({ file }) => file.size <= MOST_BYTES))) any = (await send(item, batch, corpus)) || any;
  const problems = [...large, ...many].map((text) => make("p", { className: "problem" }, foreign(text)));
  item.append(...problems, make("button", { type: "button", className: "quiet", onclick: () => close(item) }, "Close"));
  if (any) added(corpus);
}

function close(item) {
  item.remove();
  at("uploads").hidden = !at("uploads").hasChildNodes();
}

/** Yield files by requests that a service takes. */
function* batches(files) {
  let batch = [];
  let bytes = 0;
  for (const one of files) {
    if (batch.length && bytes + one.file.size > MOST_BYTES) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(one);
    bytes += one.file.size;
  }
  if (batch.length) yield batch;
}

/** Send files as a job and show it until it has ended; return whether it did well. */
async function send(item, batch, corpus) {
  const what = make("p", {}, make("strong", {}, `Adding ${plural(batch.length, "file")} to `, foreign(corpus)));
  const place = make("div", {}, progress(null));
  item.replaceChildren(what, place);
  try {
    const files = await Promise.all(batch.map(async ({ key, file }) => ({ key: harmless(key), content: await base64(file) })));
    const job = await call("v1/ingest", { method: "POST", body: { corpus, files } });
    let last = job;
    for await (const { data } of events(`v1/jobs/${job.id}/events`)) {
      last = data;
      place.replaceChildren(last.state === "queued" ? make("p", { className: "hint" }, "Waits for another job …") : progress(last.progress));
    }
    what.replaceChildren(make("strong", {}, last.state === "succeeded" ? "Added to " : "Not added to ", foreign(corpus)));
    place.replaceChildren(...ended(last));
    return last.state === "succeeded";
  } catch (error) {
    what.replaceChildren(make("strong", {}, "Not added to ", foreign(corpus)));
    place.replaceChildren(make("p", { className: "problem" }, error.message, " ", error.fix ?? ""));
    return false;
  }
}

function ended({ state, result, problem }) {
  if (problem) return [make("p", { className: "problem" }, make("strong", {}, `${problem.message} `), problem.fix)];
  if (state !== "succeeded") return [make("p", { className: "problem" }, `The job was ${state}; `, make("a", { href: link({ view: "jobs" }) }, "see the jobs"), ".")];
  const lists = leftOut(result);
  if (lists) for (const list of lists.children) list.open = true;
  return [make("p", { className: "hint" }, outcome(result)), lists].filter(Boolean);
}

/** Return a name as the service takes it: a relative path of characters that show. */
const harmless = (key) => key.replace(/[\x00-\x1f\x7f\\]/g, "_").split("/").filter((step) => step.replaceAll(".", "")).join("/") || "unnamed";

async function base64(file) {
  const url = await new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(new Error(`${file.name} can't be read.`));
    reader.readAsDataURL(file);
  });
  return url.slice(url.indexOf(",") + 1);
}
