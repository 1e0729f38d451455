// Shows what the page just asked of the API, as curl or TypeScript. The panel is loaded at the first use.

import { CodeXml } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { loadTexts, t } from "../app/language.ts";
import { IconButton } from "./icon-button.tsx";

const Panel = lazy(async () => (await Promise.all([import("../pages/as-code/index.tsx"), loadTexts("as-code")]))[0]);

export function AsCodeButton() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <IconButton label={t("This page as code")} onClick={() => setOpen(true)}>
        <CodeXml />
      </IconButton>
      {isOpen && (
        <Suspense>
          <Panel onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
