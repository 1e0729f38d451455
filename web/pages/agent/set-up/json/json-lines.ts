// Finds the line of a path such as `budget.usdPerDay` or `schedules[0].at` in a JSON text.

/** The line, beginning with 1, on which the value at this path begins; of its nearest parent, if it is not there. */
export function lineOfPath(text: string, path: string): number {
  let best = { depth: -1, at: 0 };
  visit(text, (at, here) => {
    const isPart = here === "" || path === here || path.startsWith(`${here}.`) || path.startsWith(`${here}[`);
    if (isPart && here.length > best.depth) best = { depth: here.length, at };
  });
  return text.slice(0, best.at).split("\n").length;
}

/** Calls `found` with the place and the path of each value; the text is valid JSON. */
function visit(text: string, found: (at: number, path: string) => void): void {
  const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
  /** For each open object or list: its path, and the key or index of the next value. */
  const open: { path: string; key: string | number | undefined }[] = [];
  const here = () => {
    const top = open.at(-1);
    if (!top) return "";
    if (typeof top.key === "number") return `${top.path}[${top.key}]`;
    return top.path === "" ? (top.key ?? "") : `${top.path}.${top.key ?? ""}`;
  };
  for (const { 0: token, index } of text.matchAll(tokens)) {
    const top = open.at(-1);
    if (token === "}" || token === "]") open.pop();
    else if (token === ",") {
      if (top) top.key = typeof top.key === "number" ? top.key + 1 : undefined;
    } else if (token === ":") continue;
    else if (top && top.key === undefined) top.key = JSON.parse(token) as string;
    else {
      const path = here();
      found(index, path);
      if (token === "{") open.push({ path, key: undefined });
      if (token === "[") open.push({ path, key: 0 });
    }
  }
}
