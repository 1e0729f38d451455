// How an agent hears: whether, by which model and in which language its recordings are written down.

import { t } from "../../../app/language.ts";
import { SelectField, TextField } from "../../../parts/field.tsx";
import { Section } from "../../../parts/page.tsx";
import type { FieldProps } from "./index.tsx";

export function Voice({ config, setKey, noteAt }: FieldProps) {
  const hearing = membersOf(config.transcription);
  const setHearing = (name: string, value: string) => {
    const { [name]: _, ...others } = hearing;
    const next = value === "" ? others : { ...others, [name]: value };
    setKey("transcription", Object.keys(next).length > 0 ? next : undefined);
  };
  return (
    <Section
      title={t("Voice")}
      hint={t("A voice message that the model can't hear is written down by another model, which costs a little.")}
    >
      <div className="grid gap-4 sm:grid-cols-3">
        <SelectField
          label={t("Write recordings down")}
          value={textOf(hearing.when)}
          error={noteAt("transcription.when")}
          onChange={({ currentTarget }) => setHearing("when", currentTarget.value)}
        >
          <option value="">{t("If the model can't hear")}</option>
          <option value="always">{t("Always, so that it remembers them")}</option>
          <option value="never">{t("Never")}</option>
        </SelectField>
        <TextField
          label={t("Model for recordings")}
          hint={t("As provider_N:id. Empty: the first that your providers have.")}
          placeholder="provider_3:whisper-large-v3-turbo"
          value={textOf(hearing.model)}
          error={noteAt("transcription.model")}
          onChange={({ target }) => setHearing("model", target.value)}
        />
        <TextField
          label={t("Spoken language")}
          hint={t("Two letters, such as en. Empty: the model finds it out.")}
          maxLength={2}
          value={textOf(hearing.language)}
          error={noteAt("transcription.language")}
          onChange={({ target }) => setHearing("language", target.value)}
        />
      </div>
    </Section>
  );
}

const membersOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
const textOf = (value: unknown) => (typeof value === "string" ? value : "");
