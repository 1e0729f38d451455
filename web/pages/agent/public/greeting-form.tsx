// What visitors read before they write.

import { Button } from "../../../parts/button.tsx";
import { messageOf } from "../../../parts/error-note.tsx";
import { TextAreaField } from "../../../parts/forms/field.tsx";
import { Form } from "../../../parts/forms/form.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { showToast } from "../../../parts/toast.tsx";
import { t } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { type PublicSettings, useChangePublic } from "./data.ts";

const MAX = 500;

interface Props {
  settings: PublicSettings;
  greeting: string;
  /** Undefined for the stored one. */
  onChange: (greeting: string | undefined) => void;
}

export function GreetingForm({ settings, greeting, onChange }: Props) {
  const agent = useAgent();
  const change = useChangePublic(agent.id);
  const isChanged = greeting !== settings.greeting;
  const save = () => {
    if (!isChanged || change.isPending) return;
    change.mutate(
      { enabled: settings.enabled, greeting },
      {
        onSuccess() {
          onChange(undefined);
          showToast(t("The greeting is saved"));
        },
      },
    );
  };
  return (
    <Section title={t("Greeting")}>
      <Form onSubmit={save} className="flex flex-col items-start gap-3">
        <div className="w-full max-w-xl">
          <TextAreaField
            label={t("The first thing visitors read")}
            value={greeting}
            maxLength={MAX}
            rows={3}
            placeholder={t("Hello! Ask me about our opening hours.")}
            onChange={(event) => onChange(event.target.value)}
            error={change.error ? messageOf(change.error) : undefined}
            hint={t("{n} of {max} characters. Say what it can help with; the preview shows it.", {
              n: greeting.length,
              max: MAX,
            })}
          />
        </div>
        <div className="flex gap-2">
          <Button type="submit" isBusy={change.isPending} disabled={!isChanged}>
            {t("Save the greeting")}
          </Button>
          {isChanged && (
            <Button look="bare" onClick={() => onChange(undefined)}>
              {t("Discard")}
            </Button>
          )}
        </div>
      </Form>
    </Section>
  );
}
