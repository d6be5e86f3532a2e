// Places for the nodes of a drawing: they fill its box, and no two of them overlap, labels included.

const GAP = 7;
const ROUNDS = 300;
const GROWTH = 1.2;
const MOST_GROWTHS = 12;

/**
 * Return places for boxes, and the scale at which all fit into `width` by `height`, at most 1. A box has a place (x, y)
 * and reaches `left`, `right`, `top` and `bottom` from there; those of a `row` are pushed apart along it.
 */
export function spread(boxes, width, height) {
  let factor = 1;
  for (let tries = 0; tries < MOST_GROWTHS; tries += 1, factor *= GROWTH) {
    const placed = stretch(boxes, width * factor, height * factor);
    if (separate(placed, width * factor, height * factor)) return { places: placed, scale: 1 / factor };
  }
  return { places: stretch(boxes, width * factor, height * factor), scale: 1 / factor };
}

function stretch(boxes, width, height) {
  const x = axis(boxes, "x", "left", "right", width);
  const y = axis(boxes, "y", "top", "bottom", height);
  return boxes.map((box) => ({ ...box, x: x(box.x), y: y(box.y) }));
}

function axis(boxes, coordinate, before, after, room) {
  const values = boxes.map((box) => box[coordinate]);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const [from, to] = [Math.max(...boxes.map((box) => box[before])), room - Math.max(...boxes.map((box) => box[after]))];
  return (value) => (most === least ? (from + to) / 2 : from + ((value - least) / (most - least)) * (to - from));
}

/** Push overlapping boxes apart within the room; return whether none overlap any more. */
function separate(boxes, width, height) {
  for (let round = 0; round < ROUNDS; round += 1) {
    let overlapping = false;
    boxes.forEach((one, index) => {
      for (const other of boxes.slice(index + 1)) overlapping = push(one, other) || overlapping;
    });
    if (!overlapping) return true;
    for (const box of boxes) {
      box.x = Math.min(Math.max(box.x, box.left), width - box.right);
      box.y = Math.min(Math.max(box.y, box.top), height - box.bottom);
    }
  }
  return false;
}

function push(one, other) {
  const x = Math.min(one.x + one.right - other.x + other.left, other.x + other.right - one.x + one.left) + GAP;
  const y = Math.min(one.y + one.bottom - other.y + other.top, other.y + other.bottom - one.y + one.top) + GAP;
  if (x <= 0.5 || y <= 0.5) return false;
  // What is in a row stays in it.
  if (y <= x && !(one.row && other.row)) move(one, other, "y", y);
  else move(one, other, "x", x);
  return true;
}

function move(one, other, coordinate, distance) {
  const sign = one[coordinate] <= other[coordinate] ? 1 : -1;
  one[coordinate] -= (sign * distance) / 2;
  other[coordinate] += (sign * distance) / 2;
}
