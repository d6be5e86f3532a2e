// A radial layout: a node in the middle, its neighbours on a ring around it, theirs on the next.

/**
 * Return a place for each node, in rings of radius 1 around `root`. `neighbours` has the ids that each id is linked to;
 * `first` are ids that are laid out first, to the left. Nodes without a way to the root get a ring outside.
 */
export function radial(root, neighbours, first) {
  const children = tree(root, neighbours, first);
  const depth = new Map();
  const places = new Map();
  const place = (id, level, from, to) => {
    const angle = Math.PI + (from + to) / 2;
    places.set(id, { x: level * Math.cos(angle), y: level * Math.sin(angle) });
    depth.set(id, level);
    let start = from;
    for (const child of children.get(id)) {
      const end = start + ((to - from) * leaves(child, children)) / leaves(id, children);
      place(child, level + 1, start, end);
      start = end;
    }
  };
  // Half the first child's sector before the left, so that its middle lies there.
  const [eldest] = children.get(root);
  const lead = eldest ? (Math.PI * leaves(eldest, children)) / leaves(root, children) : 0;
  place(root, 0, -lead, 2 * Math.PI - lead);
  const outside = [...neighbours.keys()].filter((id) => !places.has(id));
  const ring = Math.max(...depth.values()) + 1;
  outside.forEach((id, index) => {
    const angle = Math.PI * ((2 * index) / outside.length + 0.5);
    places.set(id, { x: ring * Math.cos(angle), y: ring * Math.sin(angle) });
  });
  return places;
}

/** Return the children of each node in the tree of shortest ways from the root. */
function tree(root, neighbours, first) {
  const children = new Map([[root, []]]);
  const queue = [root];
  for (const id of queue) {
    const sorted = [...neighbours.get(id)].sort((a, b) => first.includes(b) - first.includes(a));
    for (const next of sorted.filter((one) => !children.has(one))) {
      children.get(id).push(next);
      children.set(next, []);
      queue.push(next);
    }
  }
  return children;
}

function leaves(id, children) {
  const below = children.get(id);
  return below.length ? below.reduce((sum, child) => sum + leaves(child, children), 0) : 1;
}
