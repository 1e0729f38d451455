// Shows what the page just asked of the API, as curl or TypeScript. The panel is loaded at the first use.

import { CodeXml } from "lucide-react";
import { useEffect, useState } from "react";
import { loadTexts, t } from "../../viewer/language.ts";
import { IconButton } from "../icon-button.tsx";
import { lazyDialog } from "../lazy.tsx";

const Panel = lazyDialog(
  async () => (await Promise.all([import("../../pages/as-code/index.tsx"), loadTexts("as-code")]))[0],
);

const OPEN = "berth-as-code";

/** Opens the panel of the page that is shown. */
export const openAsCode = (): void => void dispatchEvent(new Event(OPEN));

export function AsCodeButton() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const open = () => setOpen(true);
    addEventListener(OPEN, open);
    return () => removeEventListener(OPEN, open);
  }, []);
  return (
    <>
      <IconButton label={t("This page as code")} onClick={() => setOpen(true)}>
        <CodeXml />
      </IconButton>
      {isOpen && <Panel onClose={() => setOpen(false)} />}
    </>
  );
}
