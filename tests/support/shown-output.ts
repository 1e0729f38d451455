// Compares what a program has printed with what a page of the documentation shows of it.

/** A number, a time, a version or an address: figures with dots, commas and colons between them. */
const FIGURES = "\\d+(?:[.,:]\\d+)*";
const PARTS = new RegExp(`(…|\\s+|${FIGURES})`);

/**
 * Returns the first line that differs from what a page shows, or undefined if none does. A number stands for any number, `…` for
 * anything, and white space for white space of another width.
 */
export function outputDifference(shown: string, printed: string): string | undefined {
  const [expected, lines] = [linesOf(shown), linesOf(printed)];
  const at = Array.from({ length: Math.max(expected.length, lines.length) }, (_, at) => at).find(
    (at) => !isShown(expected[at], lines[at]),
  );
  if (at === undefined) return undefined;
  const quoted = [expected[at], lines[at]].map((line) => (line === undefined ? "no more line" : JSON.stringify(line)));
  return `the page shows ${quoted[0]}, and the program printed ${quoted[1]} in\n${printed}`;
}

const linesOf = (text: string) =>
  text
    .replace(/^\n+|\s+$/g, "")
    .split("\n")
    .map((line) => line.trimEnd());

function isShown(shown: string | undefined, line: string | undefined): boolean {
  if (shown === undefined || line === undefined) return false;
  const pattern = shown.split(PARTS).map((part) => {
    if (part === "…") return ".*";
    if (/^\s+$/.test(part)) return "\\s+";
    return /^\d/.test(part) ? FIGURES : RegExp.escape(part);
  });
  return new RegExp(`^${pattern.join("")}$`).test(line);
}
