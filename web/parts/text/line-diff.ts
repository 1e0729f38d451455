// Compares two texts line by line, by their longest common subsequence.

/** `same` has both sides, `removed` only the left one, `added` only the right one; line numbers begin with 1. */
export type DiffLine =
  | { kind: "same"; left: number; right: number; text: string }
  | { kind: "removed"; left: number; text: string }
  | { kind: "added"; right: number; text: string };

/** The time grows with the product of the lines that differ; beyond this, they count as wholly different. */
const MAX_CELLS = 4_000_000;

export function diffLines(before: string, after: string): DiffLine[] {
  const left = linesOf(before);
  const right = linesOf(after);
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  let end = 0;
  while (
    end < left.length - start &&
    end < right.length - start &&
    left[left.length - 1 - end] === right[right.length - 1 - end]
  )
    end += 1;
  const same = (index: number, offset: number): DiffLine => ({
    kind: "same",
    left: index + 1,
    right: index + 1 + offset,
    text: left[index] ?? "",
  });
  return [
    ...left.slice(0, start).map((_, index) => same(index, 0)),
    ...diffMiddle(left.slice(start, left.length - end), right.slice(start, right.length - end), start),
    ...left.slice(left.length - end).map((_, index) => same(left.length - end + index, right.length - left.length)),
  ];
}

/** Nothing has no line, so that a text that is new or gone has no empty line on its other side. */
const linesOf = (text: string): string[] => (text === "" ? [] : text.split("\n"));

function diffMiddle(left: readonly string[], right: readonly string[], start: number): DiffLine[] {
  const common = left.length * right.length > MAX_CELLS ? undefined : commonLengths(left, right);
  const lines: DiffLine[] = [];
  const width = right.length + 1;
  const lengthAt = (l: number, r: number) => common?.[l * width + r] ?? 0;
  let l = 0;
  let r = 0;
  while (l < left.length || r < right.length) {
    const isSame = common !== undefined && l < left.length && r < right.length && left[l] === right[r];
    if (isSame) {
      lines.push({ kind: "same", left: start + l + 1, right: start + r + 1, text: left[l] ?? "" });
      l += 1;
      r += 1;
    } else if (l < left.length && (r >= right.length || lengthAt(l + 1, r) >= lengthAt(l, r + 1))) {
      lines.push({ kind: "removed", left: start + l + 1, text: left[l] ?? "" });
      l += 1;
    } else {
      lines.push({ kind: "added", right: start + r + 1, text: right[r] ?? "" });
      r += 1;
    }
  }
  return lines;
}

/** The length of the longest common subsequence of the rest, from each pair of lines on. */
function commonLengths(left: readonly string[], right: readonly string[]): Uint32Array {
  const width = right.length + 1;
  const lengths = new Uint32Array((left.length + 1) * width);
  for (let l = left.length - 1; l >= 0; l -= 1) {
    for (let r = right.length - 1; r >= 0; r -= 1) {
      lengths[l * width + r] =
        left[l] === right[r]
          ? (lengths[(l + 1) * width + r + 1] ?? 0) + 1
          : Math.max(lengths[(l + 1) * width + r] ?? 0, lengths[l * width + r + 1] ?? 0);
    }
  }
  return lengths;
}

export type DiffRow = { left?: DiffLine; right?: DiffLine };

/** Pairs removed lines with the added ones that follow them, for two columns. */
export function pairLines(lines: readonly DiffLine[]): DiffRow[] {
  const rows: DiffRow[] = [];
  let removed: DiffLine[] = [];
  const flush = () => {
    rows.push(...removed.map((left) => ({ left })));
    removed = [];
  };
  for (const line of lines) {
    if (line.kind === "removed") removed.push(line);
    else if (line.kind === "added") {
      const left = removed.shift();
      rows.push(left ? { left, right: line } : { right: line });
    } else {
      flush();
      rows.push({ left: line, right: line });
    }
  }
  flush();
  return rows;
}
