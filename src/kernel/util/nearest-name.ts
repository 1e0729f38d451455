// Finds the name that somebody probably meant, for messages about unknown names.

/** A longer text is no misspelt name. */
const MAX_NAME_LENGTH = 64;

/**
 * The known name that is spelt most like `name`, in any case; undefined if none is close: at most `maxChanges`
 * characters differ, by default one of every three.
 */
export function nearestName(
  name: string,
  known: Iterable<string>,
  maxChanges = Math.ceil(name.length / 3),
): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return undefined;
  let nearest: string | undefined;
  let fewest = maxChanges + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= fewest) continue;
    const changes = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (changes >= fewest) continue;
    fewest = changes;
    nearest = candidate;
  }
  return nearest;
}

/** The Levenshtein distance: the fewest characters to insert, delete or replace. */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[to.length] ?? 0;
}
