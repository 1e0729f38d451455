// The editor of an agent's instructions.

import { TextAreaField } from "../../../parts/forms/field.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Notice } from "../../../parts/values/status.tsx";
import { formatNumber, t } from "../../../viewer/language.ts";
import type { FieldProps } from "./field-props.ts";

const CHARACTERS_PER_TOKEN = 4;
const SHOWN_BLANKS = 5;

export function Instructions({ config, setKey, noteAt }: FieldProps) {
  const text = typeof config.instructions === "string" ? config.instructions : "";
  const blanks = [...new Set(text.match(/\[[^\]\n]{1,80}\]/g))];
  return (
    <Section
      title={t("Instructions")}
      hint={t("Who it is, what it knows, how it answers, and what it leaves alone. It reads them before every answer.")}
    >
      <TextAreaField
        label={t("Instructions")}
        isLabelHidden
        value={text}
        error={noteAt("instructions")}
        placeholder={t("You are the assistant of … You help with … Answer in two or three sentences.")}
        onChange={({ target }) => setKey("instructions", target.value === "" ? undefined : target.value)}
        className="field-sizing-content max-h-[70dvh] min-h-72 leading-6"
        hint={
          <span className="flex flex-wrap justify-between gap-x-4">
            <span>{t("Simple sentences and short lists work best.")}</span>
            <span>
              {t("Characters: {n}, tokens with each answer: about {tokens}", {
                n: formatNumber(text.length),
                tokens: formatNumber(Math.ceil(text.length / CHARACTERS_PER_TOKEN)),
              })}
            </span>
          </span>
        }
      />
      {blanks.length > 0 && (
        <div className="mt-3">
          <Notice tone="warn">
            <p>
              {t("Still to fill in: {blanks}", { blanks: blanks.slice(0, SHOWN_BLANKS).join(", ") })}
              {blanks.length > SHOWN_BLANKS && " …"}
            </p>
          </Notice>
        </div>
      )}
    </Section>
  );
}
