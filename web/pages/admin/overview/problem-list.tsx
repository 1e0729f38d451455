// What is wrong, the worst first, each with what to do; or that all is well.

import { CircleCheck, Info, OctagonAlert, TriangleAlert, X } from "lucide-react";
import { ButtonLink } from "../../../parts/button.tsx";
import { IconButton } from "../../../parts/icon-button.tsx";
import { t } from "../../../viewer/language.ts";
import type { Problem } from "../api-types.ts";
import { describeProblem } from "../problem-texts.ts";
import { useDismissed } from "./use-dismissed.ts";

const LOOKS = {
  error: { Icon: OctagonAlert, ground: "bg-bad-wash", ink: "text-bad" },
  warning: { Icon: TriangleAlert, ground: "bg-warn-wash", ink: "text-warn" },
  info: { Icon: Info, ground: "bg-wash", ink: "text-sea" },
} as const;

export function ProblemList({ problems }: { problems: readonly Problem[] }) {
  const { shown, dismissOf } = useDismissed(problems);
  if (shown.length === 0) {
    return (
      <p className="mb-5 flex items-center gap-2 rounded-large bg-good-wash px-4 py-3 font-medium text-good">
        <CircleCheck className="size-5 shrink-0" aria-hidden="true" />
        {t("Nothing is wrong.")}
      </p>
    );
  }
  return (
    <ul aria-label={t("What is wrong")} className="mb-5 flex flex-col gap-2">
      {shown.map((problem) => (
        <ProblemRow key={problem.code + problem.link} problem={problem} onDismiss={dismissOf(problem)} />
      ))}
    </ul>
  );
}

function ProblemRow({ problem, onDismiss }: { problem: Problem; onDismiss: (() => void) | undefined }) {
  const { Icon, ground, ink } = LOOKS[problem.severity];
  const { message, action } = describeProblem(problem);
  const isHere = problem.link === "/admin";
  return (
    <li className={`flex flex-wrap items-center gap-x-3 gap-y-2 rounded-large px-4 py-2.5 ${ground}`}>
      <Icon className={`size-5 shrink-0 ${ink}`} aria-hidden="true" />
      <div className="min-w-0 flex-[1_1_16rem]">
        <p className={`font-semibold ${ink}`}>{message}</p>
        <p className="max-w-prose">{action}</p>
      </div>
      {!isHere && <ButtonLink href={problem.link}>{t("Have a look")}</ButtonLink>}
      {onDismiss && (
        <IconButton label={t("Don't show this any more")} onClick={onDismiss}>
          <X />
        </IconButton>
      )}
    </li>
  );
}
