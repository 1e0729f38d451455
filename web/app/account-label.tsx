// What the button of the account shows, whether its menu is open or not.

import { ChevronsUpDown } from "lucide-react";
import { planName, useUser } from "../session/session.tsx";
import { t } from "../viewer/language.ts";

export const ACCOUNT_BUTTON =
  "flex w-full items-center gap-2 rounded-round p-2 text-left outline-offset-0 hover:bg-rail-hover focus-visible:outline-rail-ink data-[popup-open]:bg-rail-hover";

export function AccountLabel() {
  const { name, email, isAdmin, plan } = useUser();
  return (
    <>
      <span
        aria-hidden="true"
        className="grid size-7 shrink-0 place-items-center rounded-full bg-rail-hover font-medium text-rail-ink text-sm"
      >
        {(name || email).slice(0, 1).toUpperCase()}
      </span>
      <span className="min-w-0 flex-1">
        <span className="block truncate font-medium text-sm">{name || email}</span>
        <span className="block truncate text-rail-soft text-xs">{isAdmin ? t("Admin") : planName(plan)}</span>
      </span>
      <ChevronsUpDown className="size-4 text-rail-soft" aria-hidden="true" />
    </>
  );
}
