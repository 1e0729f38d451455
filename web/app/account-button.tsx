// The button of the account at the foot of the rail. Its menu is loaded at the first click.

import { useState } from "react";
import { lazyDialog } from "../parts/lazy.tsx";
import { ACCOUNT_BUTTON, AccountLabel } from "./account-label.tsx";

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
