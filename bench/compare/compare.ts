// Measures the present binary and that of another commit side by side, round by round: bun bench/main.ts --compare REF [name…]

import { median, quantile } from "../support/figures.ts";
import { type Program, startUpstream, binary as thisBinary } from "../support/service.ts";
import { MEASURES, type Measure, type Round } from "./measures.ts";
import { buildOther } from "./other-build.ts";

const ROUNDS = 15;
const WIDTHS = [44, 12, 12, 9, 16, 12];

/** Prints a row for each figure: the medians, and the ratio of this binary to the other with its middle half of rounds. */
export async function compare(ref: string, names: readonly string[]): Promise<void> {
  const other = await buildOther(ref);
  console.log(
    `dist/berth against ${other.title}; ${ROUNDS} rounds, taking turns. A ratio above 1 is better for dist/berth.\n`,
  );
  print(["what", "this", "other", "ratio", "middle half", "better in"]);
  await using upstream = await startUpstream();
  for (const measure of MEASURES) {
    if (names.length > 0 && !names.includes(measure.name)) continue;
    const rounds = await takeTurns(measure, [thisBinary, other.binary], upstream);
    for (const [name, figure] of Object.entries(measure.figures)) {
      const of = (side: 0 | 1) => rounds.map((round) => round[side][name] ?? Number.NaN);
      const gains = rounds.map(([own, their]) => {
        const ratio = (own[name] ?? Number.NaN) / (their[name] ?? Number.NaN);
        return figure.isRate ? ratio : 1 / ratio;
      });
      const middle = [quantile(gains, 0.25), quantile(gains, 0.75)].map((value) => value.toFixed(2)).join(" to ");
      const better = `${gains.filter((gain) => gain > 1).length} of ${gains.length}`;
      const texts = [figure.text(median(of(0))), figure.text(median(of(1))), `${median(gains).toFixed(3)}×`];
      print([figure.what, ...texts, middle, better]);
    }
  }
}

/** Measures both binaries in each round. The one that went second goes first in the next. */
async function takeTurns(
  measure: Measure,
  binaries: readonly [string, string],
  upstream: Program,
): Promise<[Round, Round][]> {
  await using first = await measure.open(binaries[0], upstream);
  await using second = await measure.open(binaries[1], upstream);
  const rounds: [Round, Round][] = [];
  for (let n = 0; n < Math.min(ROUNDS, measure.atMost ?? ROUNDS); n++) {
    if (n % 2 === 0) rounds.push([await first.round(), await second.round()]);
    else rounds.push([await second.round(), await first.round()].reverse() as [Round, Round]);
  }
  return rounds;
}

const print = (cells: readonly string[]) =>
  console.log(
    cells
      .map((cell, column) => cell.padEnd(WIDTHS[column] ?? 0))
      .join("")
      .trimEnd(),
  );
