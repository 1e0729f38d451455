// Copies a value and says so.

import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { t } from "../../viewer/language.ts";
import { IconButton } from "../icon-button.tsx";
import { showError } from "../toast.tsx";

interface Props {
  value: string;
  label?: string;
}

export function CopyButton({ value, label }: Props) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    if (!(await copyText(value))) return;
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <>
      <IconButton
        label={label ?? t("Copy")}
        onClick={() => void copy()}
        className="bg-card text-soft hover:bg-hover hover:text-ink"
      >
        {isCopied ? <Check /> : <Copy />}
      </IconButton>
      <span role="status" className="sr-only">
        {isCopied && t("Copied")}
      </span>
    </>
  );
}

/** Copies, or says why it can't: browsers allow it on https and localhost only. */
export async function copyText(value: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(value);
    return true;
  } catch {
    showError(t("This browser does not let the page copy. Select the text and copy it yourself."));
    return false;
  }
}
