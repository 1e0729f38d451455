// Says which node owns each cell and which one follows it: a pure function, so that all nodes agree without talking.

export interface Place {
  owner: string;
  /** Undefined with a single node. */
  standby: string | undefined;
}

/** How far above its even share a node may be. Without room, each node that comes or goes would move most cells. */
const ROOM = 1.25;

/**
 * Places cells 0 to `cells` - 1 on these nodes by rendezvous hashing, evened out: no node owns more than 1.25 times its share,
 * rounded up. A node that comes or goes moves about as many cells as it owns. Empty without nodes.
 */
export function placeCells(cells: number, nodes: readonly string[]): Place[] {
  if (nodes.length === 0) return [];
  const share = Math.ceil((ROOM * cells) / nodes.length);
  const owned = new Map<string, number>();
  const followed = new Map<string, number>();
  return Array.from({ length: cells }, (_, cell) => {
    const ranked = rank(cell, nodes);
    const owner = takeFirst(ranked, owned, share);
    const others = ranked.filter((node) => node !== owner);
    return { owner, standby: others.length === 0 ? undefined : takeFirst(others, followed, share) };
  });
}

/** The first node with room; the first of all if none has any, as for a standby among few nodes. */
function takeFirst(ranked: readonly string[], taken: Map<string, number>, share: number): string {
  const node = ranked.find((one) => (taken.get(one) ?? 0) < share) ?? ranked[0] ?? "";
  taken.set(node, (taken.get(node) ?? 0) + 1);
  return node;
}

/** The one of these nodes that ranks first for a cell, whatever it has already; undefined without nodes. */
export const firstOf = (cell: number, nodes: readonly string[]): string | undefined => rank(cell, nodes)[0];

function rank(cell: number, nodes: readonly string[]): string[] {
  return nodes
    .map((node) => ({ node, weight: Bun.hash.xxHash64(`${cell} ${node}`) }))
    .sort((a, b) => (a.weight === b.weight ? 0 : a.weight < b.weight ? 1 : -1))
    .map(({ node }) => node);
}
