// The model by which an agent makes pictures.

import { TextField } from "../../../parts/forms/field.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { t } from "../../../viewer/language.ts";
import type { FieldProps } from "./field-props.ts";
import { membersOf, textOf, withMember } from "./members.ts";

export function Pictures({ config, setKey, noteAt }: FieldProps) {
  const pictures = membersOf(config.pictures);
  return (
    <Section
      title={t("Pictures")}
      hint={t("The skill “Make pictures” makes them with this model. Each costs a little.")}
    >
      <div className="grid gap-4 sm:grid-cols-3">
        <TextField
          label={t("Model for pictures")}
          hint={t("As provider_N:id. Empty: the operator's, else the first that your providers have.")}
          placeholder="provider_5:gpt-image-1-mini"
          value={textOf(pictures.model)}
          error={noteAt("pictures.model")}
          onChange={({ target }) => setKey("pictures", withMember(pictures, "model", target.value || undefined))}
        />
      </div>
    </Section>
  );
}
