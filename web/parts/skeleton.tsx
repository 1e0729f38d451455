// Placeholders in the size of what is loading, so that nothing jumps.

import { t } from "../viewer/language.ts";

/** Grey bars. `lines` may have widths such as "w-1/2". */
export const Skeleton = ({ className = "h-4 w-full" }: { className?: string }) => (
  <div className={`skeleton ${className}`} aria-hidden="true" />
);

/** A page whose code or first data is loading. */
export const PageSkeleton = () => (
  <div className="mx-auto flex w-full max-w-5xl flex-col gap-4 p-6" role="status">
    <span className="sr-only">{t("Loading…")}</span>
    <Skeleton className="h-8 w-48" />
    <Skeleton className="h-24" />
    <Skeleton className="h-24" />
  </div>
);
