// A secret that is hidden until somebody asks for it, and can be copied then.

import { t } from "../app/language.ts";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";

interface Props {
  label: string;
  /** Undefined while it is hidden. */
  value: string | undefined;
  isBusy?: boolean;
  onShow: () => void;
  onHide: () => void;
}

export const SecretValue = ({ label, value, isBusy = false, onShow, onHide }: Props) => (
  <div className="flex max-w-full flex-wrap items-center gap-2">
    <p className="inline-flex min-h-8 max-w-full items-center gap-1 rounded-round bg-well px-2 font-mono text-sm">
      <span className="sr-only">{label}: </span>
      {value === undefined ? (
        <span aria-label={t("hidden")} role="img">
          ••••••••••••••••••••
        </span>
      ) : (
        <>
          <span className="min-w-0 break-all">{value}</span>
          <CopyButton value={value} label={t("Copy {words}", { words: label })} />
        </>
      )}
    </p>
    {value === undefined ? (
      <Button isBusy={isBusy} onClick={onShow} aria-label={t("Show {words}", { words: label })}>
        {t("Show")}
      </Button>
    ) : (
      <Button onClick={onHide} aria-label={t("Hide {words}", { words: label })}>
        {t("Hide")}
      </Button>
    )}
  </div>
);
