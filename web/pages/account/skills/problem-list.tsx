// What is wrong with a skill, each with its place.

import { visibleText } from "../../../../src/kernel/util/text/visible-text.ts";
import { type Problem, problemWords } from "./data.ts";

export const ProblemList = ({ problems }: { problems: readonly Problem[] }) => (
  <ul className="flex list-disc flex-col gap-1 pl-5">
    {problems.map((problem) => (
      <li key={`${problem.code} ${problem.path}`} className="break-words text-ink">
        {problem.path !== "" && <code className="mr-1.5 break-all font-mono text-sm">{visibleText(problem.path)}</code>}
        {problemWords(problem)}
      </li>
    ))}
  </ul>
);
