// A form that takes a key of a model provider, tries it, and stores it if it works.

import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { TextField } from "../../parts/forms/field.tsx";
import { Form } from "../../parts/forms/form.tsx";
import { Tiles } from "../../parts/forms/tiles.tsx";
import { OutsideLink } from "../../parts/outside-link.tsx";
import { type Text, t, text } from "../../viewer/language.ts";
import { Answer } from "./answer.tsx";
import { type Provider, providerOfKey, saveProvider, type TryResult, tryProvider } from "./providers.ts";

/** What a newcomer may want to know of a provider before choosing one. */
const ABOUT: Readonly<Record<string, Text>> = {
  provider_1: text("One key for nearly every model"),
  provider_2: text("Has a free allowance"),
  provider_3: text("Very fast, open models"),
  provider_4: text("The makers of Claude"),
  provider_5: text("The makers of ChatGPT"),
};

interface Props {
  /** Those that can be chosen; one alone is not asked for. */
  providers: readonly Provider[];
  /** Called when a key has answered and is stored. */
  onStored: (provider: Provider) => void;
}

interface Outcome {
  provider: Provider;
  result: TryResult;
}

export function KeyForm({ providers, onStored }: Props) {
  const [key, setKey] = useState("");
  const [chosen, setChosen] = useState(providers[0]?.id ?? "");
  const [isBusy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>();
  const [error, setError] = useState<unknown>();
  const provider = providers.find(({ id }) => id === chosen) ?? providers[0];
  if (!provider) return null;

  function changeKey(value: string): void {
    setKey(value);
    setOutcome(undefined);
    const recognized = providerOfKey(value, providers);
    if (recognized) setChosen(recognized.id);
  }

  async function check(): Promise<void> {
    if (!provider || isBusy) return;
    const apiKey = key.trim();
    setBusy(true);
    setError(undefined);
    setOutcome(undefined);
    try {
      const result = await tryProvider(provider.id, { apiKey });
      setOutcome({ provider, result });
      if (!result.ok) return;
      const stored = await saveProvider(provider.id, { apiKey });
      setKey("");
      onStored(stored);
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  }

  return (
    <Form onSubmit={() => void check()} className="flex flex-col gap-4">
      {providers.length > 1 && (
        <Tiles
          label={t("From whom is the key?")}
          value={provider.id}
          onChange={(id) => {
            setChosen(id);
            setOutcome(undefined);
          }}
          options={providers.map(({ id, label }) => {
            const about = ABOUT[id];
            return { value: id, label, hint: about && t(about) };
          })}
        />
      )}
      <TextField
        label={t("Key of {provider}", { provider: provider.label })}
        type="password"
        name="provider-key"
        autoComplete="off"
        spellCheck={false}
        value={key}
        onChange={(event) => changeKey(event.target.value)}
        placeholder={provider.keyStart ? `${provider.keyStart}…` : ""}
        className="font-mono"
        required
        hint={
          <>
            {t("It is sealed, and nobody can read it again, not even you.")}{" "}
            {provider.keyPage && (
              <OutsideLink href={provider.keyPage}>
                {t("Get a key from {provider}", { provider: provider.label })}
              </OutsideLink>
            )}
          </>
        }
      />
      <div>
        <Button type="submit" look={outcome?.result.ok ? "quiet" : "primary"} isBusy={isBusy}>
          {isBusy ? t("Asking {provider}…", { provider: provider.label }) : t("Check and keep this key")}
        </Button>
      </div>
      {error !== undefined && <ErrorNote error={error} />}
      {outcome && <Answer provider={outcome.provider.label} result={outcome.result} />}
    </Form>
  );
}
