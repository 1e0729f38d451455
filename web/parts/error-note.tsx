// Says what went wrong and what to do next, in the place where the result would be.

import { TriangleAlert } from "lucide-react";
import { useEffect, useState } from "react";
import { Link } from "wouter";
import { ApiError, IncompleteError, OutdatedError, UnreachableError } from "../api/errors.ts";
import { t } from "../viewer/language.ts";
import { Button } from "./button.tsx";

interface Props {
  error: unknown;
  onRetry?: () => void;
}

export function ErrorNote({ error, onRetry }: Props) {
  const isOutdated = error instanceof OutdatedError;
  const secondsLeft = useCountdown(error instanceof ApiError ? error.retryAfter : undefined);
  return (
    <div
      role="alert"
      className="flex max-w-2xl items-start gap-3 rounded-large border border-bad bg-bad-wash p-3 text-ink"
    >
      <TriangleAlert className="mt-0.5 size-4 shrink-0 text-bad" aria-hidden="true" />
      <div className="flex min-w-0 flex-col items-start gap-2">
        <p>{messageOf(error)}</p>
        <Advice error={error} />
        {isOutdated && <Button onClick={() => location.reload()}>{t("Load again")}</Button>}
        {onRetry && !isOutdated && (
          <Button onClick={onRetry} disabled={secondsLeft > 0}>
            {secondsLeft > 0 ? t("Try again in {seconds} s", { seconds: secondsLeft }) : t("Try again")}
          </Button>
        )}
      </div>
    </div>
  );
}

/** The same in place of a whole page. */
export const ErrorPage = (props: Props) => (
  <div className="mx-auto flex max-w-2xl flex-col gap-3 px-6 py-16">
    <h1 className="font-semibold text-xl">{titleOf(props.error)}</h1>
    <ErrorNote {...props} />
  </div>
);

/** A heading for any thrown value. */
export function titleOf(error: unknown): string {
  if (error instanceof IncompleteError) return t("This page is not complete");
  if (error instanceof OutdatedError) return t("Berth was updated");
  if (error instanceof UnreachableError) return t("No connection");
  const titles = new Map([
    [402, t("Your plan does not include this")],
    [403, t("This is not yours to see")],
    [404, t("This does not exist")],
    [429, t("Too many requests")],
  ]);
  return (error instanceof ApiError && titles.get(error.status)) || t("This did not work");
}

/** A sentence about any thrown value. */
export function messageOf(error: unknown): string {
  const isKnown = [ApiError, UnreachableError, OutdatedError].some((kind) => error instanceof kind);
  if (isKnown && error instanceof Error) return error.message;
  return t("Something in this page failed. Load it again.");
}

function Advice({ error }: { error: unknown }) {
  if (!(error instanceof ApiError)) return null;
  if (error.status === 402)
    return (
      <Link href="/usage" className="text-sea underline">
        {t("See your plan and budgets")}
      </Link>
    );
  if (error.status === 404)
    return (
      <Link href="/" className="text-sea underline">
        {t("Go to your agents")}
      </Link>
    );
  const id = error.body.requestId;
  return error.status >= 500 && typeof id === "string" ? (
    <p className="text-soft text-sm">{t("For the operator: request {id}", { id })}</p>
  ) : null;
}

function useCountdown(seconds: number | undefined): number {
  const [left, setLeft] = useState(seconds ?? 0);
  useEffect(() => {
    setLeft(seconds ?? 0);
    if (!seconds) return;
    const timer = setInterval(() => setLeft((before) => Math.max(0, before - 1)), 1_000);
    return () => clearInterval(timer);
  }, [seconds]);
  return left;
}
