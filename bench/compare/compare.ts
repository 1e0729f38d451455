// Measures the present binary and that of another commit side by side, and a bare program that does the same, round by round:
// bun bench/main.ts --compare REF [name…]

import { median, ratioOf } from "../support/figures.ts";
import { type Program, startUpstream, binary as thisBinary } from "../support/service.ts";
import { type ComparedFigure, MEASURES, type Measure, type Round } from "./measures.ts";
import { buildOther } from "./other-build.ts";

const WIDTHS = [44, 12, 12, 12, 9, 16, 12, 12, 12];
const HEAD = ["what", "this", "other", "bare", "ratio", "middle half", "better in", "this/bare", "other/bare"];

/** What one round gave for each side. */
interface Sides {
  own: Round;
  other: Round;
  bare: Round;
}

/**
 * Prints a row for each figure: the medians of the sides, the ratio of this binary to the other with its middle half of rounds,
 * and the ratio of each to the bare program. Ratios are medians of those of the rounds.
 */
export async function compare(ref: string, names: readonly string[], rounds: number): Promise<void> {
  const other = await buildOther(ref);
  console.log(
    `dist/berth against ${other.title}; ${rounds} rounds, taking turns. A ratio above 1 is better for dist/berth; the last two columns are each side's value divided by the bare program's.\n`,
  );
  print(HEAD);
  await using upstream = await startUpstream();
  for (const measure of MEASURES) {
    if (names.length > 0 && !names.includes(measure.name)) continue;
    const found = await takeTurns(measure, other.binary, upstream, rounds);
    for (const [name, figure] of Object.entries(measure.figures)) print(rowOf(figure, name, found));
  }
}

function rowOf({ what, isRate, text }: ComparedFigure, name: string, found: readonly Sides[]): string[] {
  const of = (side: keyof Sides) => found.map((round) => round[side][name] ?? Number.NaN);
  const gain = isRate ? ratioOf(of("own"), of("other")) : ratioOf(of("other"), of("own"));
  const better = found.filter((_, round) => {
    const [own = 0, other = 0] = [of("own")[round], of("other")[round]];
    return isRate ? own > other : own < other;
  }).length;
  return [
    what,
    ...(["own", "other", "bare"] as const).map((side) => text(median(of(side)))),
    `${gain.ratio.toFixed(3)}×`,
    `${gain.spread.low.toFixed(2)} to ${gain.spread.high.toFixed(2)}`,
    `${better} of ${found.length}`,
    `${ratioOf(of("own"), of("bare")).ratio.toFixed(2)}×`,
    `${ratioOf(of("other"), of("bare")).ratio.toFixed(2)}×`,
  ];
}

/** Measures all three in each round. The binary that went last goes first in the next; the bare program is between them. */
async function takeTurns(measure: Measure, other: string, upstream: Program, rounds: number): Promise<Sides[]> {
  await using first = await measure.open(thisBinary, upstream);
  await using second = await measure.open(other, upstream);
  await using plain = await measure.openBare(upstream);
  const found: Sides[] = [];
  for (let n = 0; n < Math.min(rounds, measure.atMost ?? rounds); n++) {
    if (n % 2 === 0) {
      found.push({ own: await first.round(), bare: await plain.round(), other: await second.round() });
    } else {
      found.push({ other: await second.round(), bare: await plain.round(), own: await first.round() });
    }
  }
  return found;
}

const print = (cells: readonly string[]) =>
  console.log(
    cells
      .map((cell, column) => cell.padEnd(WIDTHS[column] ?? 0))
      .join("")
      .trimEnd(),
  );
