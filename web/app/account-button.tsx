// The button of the account at the foot of the rail. Its menu is loaded at the first click.

import { ChevronsUpDown } from "lucide-react";
import { useState } from "react";
import { t } from "./language.ts";
import { lazyDialog } from "./lazy.tsx";
import { planName, useUser } from "./session.tsx";

export const ACCOUNT_BUTTON =
  "flex w-full items-center gap-2 rounded-round p-2 text-left outline-offset-0 hover:bg-rail-hover focus-visible:outline-rail-ink data-[popup-open]:bg-rail-hover";

const AccountMenu = lazyDialog<{ onClose: () => void }>(
  () => import("./account-menu.tsx"),
  () => <PlainButton isOpen />,
);

export function AccountButton() {
  const [isWanted, setWanted] = useState(false);
  if (isWanted) return <AccountMenu onClose={() => setWanted(false)} />;
  return <PlainButton isOpen={false} onClick={() => setWanted(true)} />;
}

const PlainButton = ({ isOpen, onClick }: { isOpen: boolean; onClick?: () => void }) => (
  <button type="button" aria-haspopup="menu" aria-expanded={isOpen} className={ACCOUNT_BUTTON} onClick={onClick}>
    <AccountLabel />
  </button>
);

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
