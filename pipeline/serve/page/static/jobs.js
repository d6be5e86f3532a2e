// Jobs: ingests and syncs, with the progress of those that run.
import { call, events, isShown } from "./api.js";
import { at, empty, failure, foreign, make, number, percent, plural } from "./dom.js";

const POLL_MILLISECONDS = 3000;
const FINAL = ["succeeded", "failed", "cancelled"];

let watching = new Map();
let timer = 0;
let older = [];
let beyond = null;

/** Show the jobs, and keep them up to date until they are hidden. */
export async function showJobs() {
  clearTimeout(timer);
  try {
    const page = await call("v1/jobs?limit=50");
    if (at("jobs").hidden) return;
    draw(page);
    for (const job of page.jobs) watch(job);
    timer = setTimeout(showJobs, POLL_MILLISECONDS);
  } catch (error) {
    if (!isShown(error)) at("jobs").replaceChildren(failure(error));
  }
}

/** Stop watching. */
export function hideJobs() {
  clearTimeout(timer);
  for (const controller of watching.values()) controller.abort();
  watching = new Map();
}

function draw({ jobs, next }) {
  if (!jobs.length) {
    at("jobs").replaceChildren(empty("There are no jobs.", "Drop files on this page to add them to a corpus; that is a job, and so is POST /v1/ingest."));
    return;
  }
  let list = at("jobs").querySelector(".jobs");
  if (!list) {
    list = make("ol", { className: "jobs", "aria-label": "Jobs, the latest first" });
    at("jobs").replaceChildren(list, make("button", { type: "button", className: "more" }, "Show older jobs"));
  }
  const all = [...jobs, ...older.filter((job) => !jobs.some((one) => one.id === job.id))];
  const kept = new Map([...list.children].map((item) => [item.dataset.id, item]));
  const items = all.map((job) => updated(kept.get(job.id), job));
  if (items.some((item, place) => list.children[place] !== item) || items.length !== list.children.length) list.replaceChildren(...items);
  const more = list.nextElementSibling;
  const before = older.length ? beyond : next;
  more.hidden = before === null;
  more.onclick = () => showOlder(before);
}

async function showOlder(before) {
  try {
    const page = await call(`v1/jobs?${new URLSearchParams({ before, limit: 200 })}`);
    older = [...older, ...page.jobs];
    beyond = page.next;
    await showJobs();
  } catch (error) {
    if (!isShown(error)) at("jobs").append(failure(error));
  }
}

/** Follow a job's events until it has ended. */
async function watch(job) {
  if (FINAL.includes(job.state) || watching.has(job.id)) return;
  const controller = new AbortController();
  watching.set(job.id, controller);
  try {
    for await (const { data: now } of events(`v1/jobs/${job.id}/events`, { signal: controller.signal })) {
      updated([...at("jobs").querySelectorAll(".job")].find((item) => item.dataset.id === now.id), now);
    }
  } catch {
    // The list is read again soon, and shows what is wrong.
  } finally {
    watching.delete(job.id);
  }
}

/** Return the item of a job, made or brought up to date; it is rewritten only if the job changed, to keep the focus. */
function updated(item, job) {
  const text = JSON.stringify(job);
  if (item?.dataset.job === text) return item;
  const made = item ?? make("li", { className: "job" });
  const focused = made.contains(document.activeElement) && document.activeElement.dataset.action;
  made.dataset.id = job.id;
  made.dataset.job = text;
  made.replaceChildren(...parts(job));
  if (focused) made.querySelector(`[data-action="${focused}"]`)?.focus();
  return made;
}

function parts(job) {
  const state = job.cancelling ? "cancelling" : job.state;
  return [
    make(
      "div", { className: "job-head" },
      make("span", { className: `state ${job.state}` }, state),
      make("strong", {}, job.kind, " into ", foreign(job.corpus)),
      make("span", { className: "hint" }, times(job)),
      buttons(job),
    ),
    job.state === "running" && progress(job.progress),
    job.problem && make("p", { className: "problem" }, make("strong", {}, `${job.problem.message} `), job.problem.fix),
    job.result && make("p", { className: "hint" }, outcome(job.result)),
    job.result && leftOut(job.result),
  ].filter(Boolean);
}

function times({ created_at: created, started_at: started, finished_at: finished, attempt }) {
  const parts_ = [new Date(created).toLocaleString()];
  if (started && finished) parts_.push(`took ${((new Date(finished) - new Date(started)) / 1000).toFixed(1)} s`);
  if (attempt > 1) parts_.push(`attempt ${attempt}`);
  return parts_.join(" · ");
}

/** Make the bar of a job's progress. */
export function progress(advance) {
  const { stage = "", done = 0, total = null } = advance ?? {};
  const bar = make("progress", { "aria-label": stage || "starting" });
  if (total) Object.assign(bar, { max: total, value: done });
  const steps = total ? `${number(done)} of ${number(total)} (${percent(done / total)})` : `${number(done)} so far`;
  const words = stage ? `${stage}: ${steps}` : "starting";
  return make("div", { className: "progress" }, bar, make("span", {}, words));
}

/** Return what a job did, in a sentence. */
export function outcome(result) {
  const { changed, unchanged, documents, chunks, entities } = result.done ?? result;
  if (documents === undefined) return "Planned; nothing was written.";
  return `${plural(changed, "document")} changed, ${number(unchanged)} unchanged; the corpus has ${plural(documents, "document")}, ${plural(chunks, "chunk")} and ${plural(entities, "entity", "entities")}.`;
}

/** Make the lists of sources that a job left out or read in part; null if there are none. */
export function leftOut(result) {
  const { skipped = [], warnings = [] } = result.done ?? result;
  const lists = [sources(skipped, "left out"), sources(warnings, "read in part")].filter(Boolean);
  return lists.length ? make("div", {}, lists) : null;
}

function sources(listed, what) {
  if (!listed.length) return null;
  const items = listed.map((one) => make("li", {}, foreign(typeof one === "string" ? one : Object.values(one).join(": "))));
  return make("details", {}, make("summary", {}, `${plural(listed.length, "source")} ${what}`), make("ul", {}, items));
}

function buttons(job) {
  const again = job.state === "failed" || job.state === "cancelled" || ((job.result?.done ?? job.result)?.skipped ?? []).length > 0;
  return make(
    "span", { className: "actions" },
    !FINAL.includes(job.state) && !job.cancelling && action(job, "cancel", "Cancel"),
    again && FINAL.includes(job.state) && action(job, "retry", "Retry"),
  );
}

function action(job, name, words) {
  const button = make("button", { type: "button", "aria-label": `${words} the job of ${job.corpus}` }, words);
  button.dataset.action = name;
  button.onclick = async () => {
    button.disabled = true;
    try {
      await call(`v1/jobs/${job.id}/${name}`, { method: "POST" });
    } catch (error) {
      if (!isShown(error)) button.closest(".job").append(failure(error));
    }
    await showJobs();
  };
  return button;
}
