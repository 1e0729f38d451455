// The recovery codes, shown once: to copy or to save as a file.

import { Download } from "lucide-react";
import { Button } from "../../../parts/button.tsx";
import { CodeBlock } from "../../../parts/text/code-block.tsx";
import { downloadText } from "../../../parts/text/download.ts";
import { useUser } from "../../../session/session.tsx";
import { t } from "../../../viewer/language.ts";

export function RecoveryCodes({ codes }: { codes: string[] }) {
  const { email } = useUser();
  const text = codes.join("\n");
  const save = () =>
    downloadText(
      "berth-recovery-codes.txt",
      `${t("Recovery codes of {email} at {host}", { email, host: location.host })}\n\n${text}\n`,
    );
  return (
    <div className="flex flex-col items-start gap-3">
      <p>
        {t(
          "If you lose your phone, each of these codes signs you in once. They are shown only now. Keep them where you keep important papers.",
        )}
      </p>
      <div className="w-full">
        <CodeBlock code={text} label={t("Recovery codes")} />
      </div>
      <Button onClick={save}>
        <Download aria-hidden="true" />
        {t("Save as a file")}
      </Button>
    </div>
  );
}
