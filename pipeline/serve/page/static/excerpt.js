// Excerpts: the sentence of a passage that ties it to its path or answers the question, with what stands around it.

const MOST = 320;
const LONGEST_SENTENCE = 600;
const SHORTEST_WORD = 3;
const STEM = 6;
const BRIDGE_WEIGHT = 2;
const LEAST_SCORE = 0.25;
const COMMON = new Set(
  `and are but can did does for from had has have her him his how its not off one our out she than that the their them then there they this
  was were what when where which while who whom whose why will with would you your about after also been being called could each into made
  name named over should some such these those under until very`.split(/\s+/),
);

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });

/**
 * Return the excerpt of a passage in three parts: before, sentence and after. `bridge` is the name through which the
 * path comes to the passage, "" if it comes through none. The sentence is "" if none shares enough words with
 * either, and the excerpt then is the beginning.
 */
export function excerpt(text, question, bridge) {
  const sentences = sentencesOf(readable(text));
  const scores = sentences.map((sentence) => score(sentence, question, bridge));
  const telling = Math.max(...scores) >= LEAST_SCORE;
  const best = telling ? scores.indexOf(Math.max(...scores)) : 0;
  let [start, end, length] = [best, best + 1, sentences[best].length];
  while (end < sentences.length && length + sentences[end].length <= MOST) length += sentences[end++].length;
  while (start > 0 && length + sentences[start - 1].length <= MOST) length += sentences[--start].length;
  const before = `${start ? "… " : ""}${sentences.slice(start, best).map((one) => `${one} `).join("")}`;
  const after = `${sentences.slice(best + 1, end).map((one) => ` ${one}`).join("")}${end < sentences.length ? " …" : ""}`;
  const sentence = cut(sentences[best]);
  return telling ? { before, sentence, after } : { before: sentence, sentence: "", after };
}

/** Return the name through which a path comes to its last node: its last entity. */
export function bridgeOf(steps) {
  return steps.findLast((step) => step.kind === "Entity")?.name ?? "";
}

function readable(text) {
  return text
    .replace(/^#{1,6} .*\n/, "")
    .replace(/\[\[(?:[^\]|]*\|)?([^\]|]+)\]\]/g, "$1")
    .replace(/\[([^\]]+)\]\([^)\s]*\)/g, "$1")
    .replace(/(\*{1,2})(?=\S)([^*\n]+?)\1/g, "$2");
}

function sentencesOf(text) {
  const paragraphs = text.split(/\n\s*\n/).map((paragraph) => paragraph.split(/\s+/).join(" "));
  const parts = paragraphs.flatMap((paragraph) => [...segmenter.segment(paragraph)].map((part) => part.segment.trim()));
  const found = parts.filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
  return found.length ? found : [text];
}

function score(sentence, question, bridge) {
  const words = stems(sentence);
  return share(stems(question), words) + BRIDGE_WEIGHT * share(stems(bridge), words);
}

function share(wanted, words) {
  const found = [...wanted].filter((word) => words.has(word));
  return wanted.size ? found.length / wanted.size : 0;
}

function stems(text) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.filter((word) => word.length >= SHORTEST_WORD && !COMMON.has(word)).map((word) => word.slice(0, STEM)));
}

function cut(sentence) {
  return sentence.length <= LONGEST_SENTENCE ? sentence : `${sentence.slice(0, LONGEST_SENTENCE)}…`;
}
