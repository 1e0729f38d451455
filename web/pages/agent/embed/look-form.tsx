// How the chat looks on the sites: greeting, colour, and light or dark.

import { useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { messageOf } from "../../../parts/error-note.tsx";
import { Choice } from "../../../parts/forms/choice.tsx";
import { TextAreaField } from "../../../parts/forms/field.tsx";
import { Form } from "../../../parts/forms/form.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { showToast } from "../../../parts/toast.tsx";
import { t } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { useConfiguration } from "../config/configuration.ts";
import { BERTH_ACCENT, type EmbedSettings, type Theme, withEmbed } from "./settings.ts";

const MAX_GREETING = 500;

export type Look = Pick<EmbedSettings, "greeting" | "accent" | "theme">;

interface Props {
  settings: EmbedSettings;
  typed: Look;
  onGreeting: (greeting: string) => void;
  /** Empty for Berth's own. */
  onAccent: (accent: string) => void;
  onTheme: (theme: Theme) => void;
  onSaved: () => void;
}

export function LookForm({ settings, typed, onGreeting, onAccent, onTheme, onSaved }: Props) {
  const agent = useAgent();
  const { saveNow } = useConfiguration(agent.id);
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const { greeting, accent, theme } = typed;
  const isChanged = greeting !== settings.greeting || accent !== settings.accent || theme !== settings.theme;
  const save = async () => {
    if (!isChanged || isBusy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      await saveNow((config) => withEmbed(config, { greeting: greeting.trim(), accent, theme }));
      onSaved();
      showToast(t("The look is saved"));
    } catch (error) {
      setProblem(messageOf(error));
    }
    setBusy(false);
  };
  return (
    <Section title={t("How it looks")}>
      <Form onSubmit={() => void save()} className="flex flex-col items-start gap-4">
        <div className="w-full max-w-xl">
          <TextAreaField
            label={t("What it says first")}
            value={greeting}
            maxLength={MAX_GREETING}
            rows={2}
            placeholder={t("Hello! Ask me about our opening hours.")}
            onChange={(event) => onGreeting(event.target.value)}
            error={problem}
          />
        </div>
        <div className="flex flex-wrap items-end gap-x-6 gap-y-4">
          <div className="flex items-end gap-2">
            <label className="flex flex-col gap-1 font-medium">
              {t("Colour")}
              <input
                type="color"
                value={accent ?? BERTH_ACCENT}
                onChange={(event) => onAccent(event.target.value)}
                className="h-9 w-16 cursor-pointer rounded-round border border-line bg-card p-1"
              />
            </label>
            {accent !== undefined && (
              <Button look="bare" onClick={() => onAccent("")}>
                {t("Berth's own")}
              </Button>
            )}
          </div>
          <Choice
            label={t("Light or dark")}
            value={theme}
            options={[
              { value: "auto", label: t("As the visitor's system") },
              { value: "light", label: t("Light") },
              { value: "dark", label: t("Dark") },
            ]}
            onChange={onTheme}
          />
        </div>
        <div className="flex gap-2">
          <Button type="submit" isBusy={isBusy} disabled={!isChanged}>
            {t("Save the look")}
          </Button>
          {isChanged && (
            <Button look="bare" onClick={onSaved}>
              {t("Discard")}
            </Button>
          )}
        </div>
      </Form>
    </Section>
  );
}
