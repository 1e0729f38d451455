// A secret that is hidden until somebody asks for it, and can be copied then.

import { t } from "../../viewer/language.ts";
import { Button } from "../button.tsx";
import { CopyValue } from "./copy-value.tsx";

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
    {value === undefined ? (
      <span
        role="img"
        aria-label={t("{words}: hidden", { words: label })}
        className="inline-flex min-h-8 items-center rounded-round border border-edge bg-well px-2 font-mono text-sm"
      >
        ••••••••••••••••••••
      </span>
    ) : (
      <CopyValue value={value} label={t("Copy {words}", { words: label })} />
    )}
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
