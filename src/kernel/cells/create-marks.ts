// Makes the marks of a cell.
import { LABEL_ALPHABET, type Marks, markToken, UNMARKED } from "./marks.ts";

export function createMarks(cell: number): Marks {
  if (cell === 0) return UNMARKED;
  const inId = `8${cell.toString(16).padStart(3, "0")}`;
  const inLabel = labelOf(cell);
  return {
    cell,
    newId() {
      // The counter of ids within a millisecond moves behind the number: ids of a cell stay in their order.
      const id = Bun.randomUUIDv7();
      return `${id.slice(0, 14)}${inId}-8${id.slice(15, 18)}${id.slice(23)}`;
    },
    token: (token) => markToken(token, cell),
    label: (name) => name + inLabel,
  };
}

function labelOf(cell: number): string {
  const base = LABEL_ALPHABET.length;
  return [Math.floor(cell / base / base), Math.floor(cell / base) % base, cell % base]
    .map((digit) => LABEL_ALPHABET[digit])
    .join("");
}
