// The frame of the first run: where the person is on the way, at the left or on top, and the step itself.

import { Check, Minus } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { AsCodeButton } from "../../../parts/page/as-code-button.tsx";
import { useTitle } from "../../../parts/page/page.tsx";
import { useUser } from "../../../session/session.tsx";
import { rich, t } from "../../../viewer/language.ts";
import { Harbour } from "./harbour.tsx";
import type { Step, StepStatus } from "./setup.ts";

interface Props {
  steps: readonly Step[];
  step: string;
  children: ReactNode;
}

export function Frame({ steps, step, children }: Props) {
  const { name } = useUser();
  const behind = steps.filter(({ status }) => status !== "open").length;
  const index = steps.findIndex(({ id }) => id === step);
  return (
    <div className="min-h-dvh lg:grid lg:grid-cols-[20rem_minmax(0,1fr)]">
      <header className="flex flex-col gap-5 bg-rail p-4 text-rail-ink lg:sticky lg:top-0 lg:h-dvh lg:p-8">
        <p className="font-semibold text-md text-white">
          {name ? t("Welcome aboard, {name}", { name }) : t("Welcome aboard")}
        </p>
        <p className="hidden text-rail-soft lg:block">
          {t("A few short steps, and an agent answers. You can leave at any time and go on later.")}
        </p>
        <nav aria-label={t("Steps")}>
          <ol className="flex gap-1.5 lg:flex-col lg:gap-1">
            {steps.map((one, position) => (
              <StepLink key={one.id} step={one} number={position + 1} isHere={one.id === step} />
            ))}
          </ol>
        </nav>
        {index >= 0 && (
          <p className="text-rail-soft text-sm lg:hidden">
            {t("Step {number} of {count}", { number: index + 1, count: steps.length })}
          </p>
        )}
        <div className="mt-auto hidden lg:block">
          <Harbour progress={step === "done" ? 1 : behind / Math.max(steps.length, 1)} />
        </div>
      </header>
      <main id="page" className="min-w-0 px-4 pt-6 pb-16 md:px-10 lg:pt-12">
        <div className="mx-auto max-w-2xl">
          <div className="mb-2 flex items-center justify-end gap-2 text-soft">
            <p>
              {rich("<a>Leave the tour</a>", {
                a: (words, key) => (
                  <Link key={key} href="/" className="rounded-round px-2 py-1 hover:bg-hover hover:text-ink">
                    {words}
                  </Link>
                ),
              })}
            </p>
            <AsCodeButton />
          </div>
          {children}
        </div>
      </main>
    </div>
  );
}

function StepLink({ step: { id, label, status }, number, isHere }: { step: Step; number: number; isHere: boolean }) {
  return (
    <li className="min-w-0 flex-1 lg:flex-none">
      <Link
        href={`/welcome?step=${id}`}
        aria-current={isHere ? "step" : undefined}
        className="flex flex-col gap-1 rounded-round border-rail-soft border-t-2 px-1 pt-1.5 text-rail-soft hover:text-rail-ink focus-visible:outline-rail-ink aria-[current]:border-rail-ink aria-[current]:font-medium aria-[current]:text-white lg:flex-row lg:items-center lg:gap-3 lg:border-t-0 lg:px-2 lg:py-2 lg:hover:bg-rail-hover lg:aria-[current]:bg-rail-hover"
      >
        <span
          className={`hidden size-6 shrink-0 place-items-center rounded-full border text-xs lg:grid ${status === "done" ? "border-transparent bg-fill text-white" : "border-current"}`}
        >
          <Mark status={status} number={number} />
        </span>
        <span className="text-xs leading-4 lg:text-base">
          {t(label)}
          <StatusWord status={status} />
        </span>
      </Link>
    </li>
  );
}

function Mark({ status, number }: { status: StepStatus; number: number }) {
  if (status === "done") return <Check aria-hidden="true" className="size-3.5" />;
  if (status === "skipped") return <Minus aria-hidden="true" className="size-3.5" />;
  return <span aria-hidden="true">{number}</span>;
}

/** On wide screens the mark shows it. */
const StatusWord = ({ status }: { status: StepStatus }) => (
  <span className="sr-only">
    {status === "done" && t("(done)")}
    {status === "skipped" && t("(skipped)")}
  </span>
);

interface StepPageProps {
  title: string;
  intro: ReactNode;
  /** Leaves the step out. */
  onSkip?: (() => void) | undefined;
  skipLabel?: string;
  children: ReactNode;
}

/** The outline of one step. */
export function StepPage({ title, intro, onSkip, skipLabel, children }: StepPageProps) {
  useTitle(title);
  return (
    <>
      <h1 className="font-semibold text-2xl">{title}</h1>
      <p className="mt-2 max-w-prose text-md text-soft">{intro}</p>
      <div className="mt-6 flex flex-col gap-5">{children}</div>
      {onSkip && (
        <p className="mt-6 border-edge border-t pt-4">
          <button
            type="button"
            onClick={onSkip}
            className="-mx-2 rounded-round px-2 py-1 text-soft underline hover:bg-hover hover:text-ink"
          >
            {skipLabel ?? t("Skip this step")}
          </button>
        </p>
      )}
    </>
  );
}
