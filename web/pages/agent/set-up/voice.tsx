// How an agent hears and speaks: when, by which models, in which language and with which voice.

import { SelectField, TextField } from "../../../parts/forms/field.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { type Text, t, text } from "../../../viewer/language.ts";
import type { FieldProps } from "./field-props.ts";
import { type Members, membersOf, textOf, withMember } from "./members.ts";

const SPOKEN: readonly (readonly [value: string, label: Text])[] = [
  ["", text("Never")],
  ["when spoken to", text("To voice messages")],
  ["always", text("Always")],
];

export function Voice({ config, setKey, noteAt }: FieldProps) {
  const hearing = membersOf(config.transcription);
  // One word means the object with it.
  const voice: Members = typeof config.voice === "string" ? { replies: config.voice } : membersOf(config.voice);
  const setter = (key: string, members: Members) => (name: string, value: string) =>
    setKey(key, withMember(members, name, value || undefined));
  const setHearing = setter("transcription", hearing);
  const setVoice = setter("voice", voice);
  const replies = voice.replies === "never" ? "" : textOf(voice.replies);
  return (
    <Section
      title={t("Voice")}
      hint={t(
        "A voice message that the model can't hear is written down by another model, and replies are spoken by one. Both cost a little.",
      )}
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
          hint={t("As provider_N:id. Empty: the operator's, else the first that your providers have.")}
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
        <SelectField
          label={t("Speak replies")}
          value={replies}
          error={noteAt("voice.replies") ?? (typeof config.voice === "string" ? noteAt("voice") : undefined)}
          onChange={({ currentTarget }) => setVoice("replies", currentTarget.value)}
        >
          {SPOKEN.map(([value, label]) => (
            <option key={value} value={value}>
              {t(label)}
            </option>
          ))}
        </SelectField>
        <TextField
          label={t("Model that speaks")}
          hint={t("As provider_N:id. Empty: the operator's, else the first that your providers have.")}
          placeholder="provider_5:gpt-4o-mini-tts"
          value={textOf(voice.model)}
          error={noteAt("voice.model")}
          onChange={({ target }) => setVoice("model", target.value)}
        />
        <TextField
          label={t("Name of the voice")}
          hint={t("As the provider calls it. Empty: its usual one.")}
          placeholder="nova"
          value={textOf(voice.voice)}
          error={noteAt("voice.voice")}
          onChange={({ target }) => setVoice("voice", target.value)}
        />
      </div>
    </Section>
  );
}
