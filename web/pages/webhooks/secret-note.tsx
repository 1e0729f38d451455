// A webhook's secret, which is shown this once.

import { CodeBlock } from "../../parts/text/code-block.tsx";
import { t } from "../../viewer/language.ts";

export const SecretNote = ({ secret }: { secret: string }) => (
  <div className="flex flex-col gap-2">
    <p>{t("This is the secret by which the other side checks that a request is from here. It is shown only now.")}</p>
    <CodeBlock code={secret} label={t("Signing secret")} />
    <p className="text-soft text-sm">{t("Any library for Standard Webhooks checks the signature with it.")}</p>
  </div>
);
