// Shows what changed in a text: side by side where there is room, else one below the other. Signs say it without colour.

import { useMemo } from "react";
import { t, tn } from "../../viewer/language.ts";
import { useMedia } from "../use-media.ts";
import { type DiffLine, diffLines, pairLines } from "./line-diff.ts";

interface Props {
  before: string;
  after: string;
  /** Names of the two sides, for their heads and for screen readers. */
  heads: readonly [string, string];
}

/** Same lines that are shown around a change. */
const AROUND = 3;

export function TextDiff({ before, after, heads }: Props) {
  const isWide = useMedia("(min-width: 64rem)");
  const lines = useMemo(() => diffLines(before, after), [before, after]);
  return (
    <div
      role="group"
      aria-label={t("{before} compared to {after}", { before: heads[0], after: heads[1] })}
      tabIndex={0}
      className="max-h-[32rem] overflow-auto rounded-large border border-edge bg-card"
    >
      <table className="w-full table-fixed border-collapse font-mono text-sm">
        <thead className="sr-only lg:not-sr-only">
          <tr className="border-edge border-b text-left font-sans text-soft">
            {isWide ? (
              heads.map((head) => (
                <th key={head} scope="col" className="px-3 py-1 font-medium">
                  {head}
                </th>
              ))
            ) : (
              <th scope="col">{`${heads[0]} – ${heads[1]}`}</th>
            )}
          </tr>
        </thead>
        <tbody>{isWide ? <TwoColumns lines={lines} /> : <OneColumn lines={lines} />}</tbody>
      </table>
    </div>
  );
}

const OneColumn = ({ lines }: { lines: readonly DiffLine[] }) =>
  fold(lines, ({ kind }) => kind === "same").map((part, index) =>
    typeof part === "number" ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have only their place
      <Folded key={index} count={part} columns={1} />
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: as above
      <tr key={index}>
        <Line line={part} />
      </tr>
    ),
  );

const TwoColumns = ({ lines }: { lines: readonly DiffLine[] }) =>
  fold(pairLines(lines), ({ left, right }) => left?.kind === "same" && right !== undefined).map((part, index) =>
    typeof part === "number" ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have only their place
      <Folded key={index} count={part} columns={2} />
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: as above
      <tr key={index}>
        <Line line={part.left} />
        <Line line={part.right} />
      </tr>
    ),
  );

const Folded = ({ count, columns }: { count: number; columns: number }) => (
  <tr>
    <td colSpan={columns} className="border-edge border-y bg-well px-3 py-0.5 text-center font-sans text-soft text-xs">
      {tn("{n} line is the same", "{n} lines are the same", count)}
    </td>
  </tr>
);

const LOOKS = {
  same: { sign: " ", look: "" },
  removed: { sign: "−", look: "bg-bad-wash" },
  added: { sign: "+", look: "bg-good-wash" },
} as const;

function Line({ line }: { line: DiffLine | undefined }) {
  if (!line) return <td className="bg-well" />;
  const { sign, look } = LOOKS[line.kind];
  return (
    <td className={`whitespace-pre-wrap px-3 align-top ${look}`}>
      <span aria-hidden="true" className="inline-block w-4 select-none text-soft">
        {sign}
      </span>
      {line.kind !== "same" && <span className="sr-only">{line.kind === "added" ? t("added:") : t("removed:")} </span>}
      {line.text}
    </td>
  );
}

/** Replaces long runs of same parts by their number, except for those beside a change. */
function fold<Part extends object>(parts: readonly Part[], isSame: (part: Part) => boolean): (Part | number)[] {
  const isNear = parts.map((_, index) =>
    parts.slice(Math.max(0, index - AROUND), index + AROUND + 1).some((part) => !isSame(part)),
  );
  const folded: (Part | number)[] = [];
  for (const [index, part] of parts.entries()) {
    const last = folded.at(-1);
    if (isNear[index]) folded.push(part);
    else if (typeof last === "number") folded[folded.length - 1] = last + 1;
    else folded.push(1);
  }
  return folded;
}
