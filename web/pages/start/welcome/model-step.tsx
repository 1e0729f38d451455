// The first step of admins: what answers. A found Ollama, a key that is tried at once, or the demo for now.

import { useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { Badge, Notice } from "../../../parts/values/status.tsx";
import { rich, t } from "../../../viewer/language.ts";
import { Answer } from "../answer.tsx";
import { KeyForm } from "../key-form.tsx";
import { type Provider, type ProviderList, saveProvider, useProviders, useProvidersChanged } from "../providers.ts";
import { useTry } from "../use-try.ts";
import { StepPage } from "./frame.tsx";

interface Props {
  onDone: () => void;
  onSkip: () => void;
}

export function ModelStep({ onDone, onSkip }: Props) {
  const { data, error, refetch } = useProviders();
  const changed = useProvidersChanged();
  const [stored, setStored] = useState<Provider>();
  const inUse = data?.providers.find((one) => one.inUse);
  const hasOwn = data !== undefined && data.serving !== "demo";
  const isOllama = data?.serving === "ollama";
  const free = data?.providers.filter(({ keySource }) => keySource !== "environment") ?? [];
  return (
    <StepPage
      title={t("Choose what answers")}
      intro={t("Agents think with a language model. Bring one with a key, or look around with the built-in demo.")}
      onSkip={hasOwn ? undefined : onSkip}
      skipLabel={t("Keep the demo model for now")}
    >
      {error && !data && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-72" />}
      {data && (
        <>
          {hasOwn && inUse && !stored && <Ready provider={inUse} onDone={onDone} />}
          {data.ollama.found && !data.ollama.hasModels && <EmptyOllama onCheck={changed} />}
          {data.ollama.hasModels && !data.ollama.inUse && (
            <FoundOllama list={data} onStored={changed} onDone={onDone} />
          )}
          {(!hasOwn || isOllama || stored) && (
            <Section
              title={isOllama ? t("Or a key of a provider") : t("A key of a provider")}
              hint={t("The model answers at once, in the best quality. The provider charges for it.")}
            >
              <KeyForm
                providers={free}
                onStored={(provider) => {
                  setStored(provider);
                  void changed();
                }}
              />
              {stored && (
                <div className="mt-4">
                  <Button look="primary" onClick={onDone}>
                    {t("Go on")}
                  </Button>
                </div>
              )}
            </Section>
          )}
          {!hasOwn && (
            <p className="text-soft">
              {t(
                "The demo model is built in, costs nothing and needs no key. It shows how everything works, but it only pretends to think.",
              )}
            </p>
          )}
        </>
      )}
    </StepPage>
  );
}

/** A provider that serves already: from the environment, stored before, or a found Ollama. */
function Ready({ provider, onDone }: { provider: Provider; onDone: () => void }) {
  const label = provider.isOllama ? "Ollama" : provider.label;
  const { result, error, isBusy, ask } = useTry(provider.id);
  return (
    <Section title={t("{provider} is ready", { provider: label })} actions={<Badge tone="good">{t("in use")}</Badge>}>
      <div className="flex flex-col items-start gap-3">
        <p className="text-soft">
          {provider.isOllama
            ? t("It runs on this machine: it costs nothing, and nothing leaves the machine.")
            : t("Your agents think with it. You can change that at any time under Models.")}
        </p>
        {result && <Answer provider={label} result={result} />}
        {error !== undefined && <ErrorNote error={error} />}
        <div className="flex flex-wrap gap-2">
          <Button look="primary" onClick={onDone}>
            {t("Go on")}
          </Button>
          <Button onClick={() => void ask()} isBusy={isBusy}>
            {t("See it answer")}
          </Button>
        </div>
      </div>
    </Section>
  );
}

/** An Ollama that runs here, but can't answer before it has a model. */
function EmptyOllama({ onCheck }: { onCheck: () => Promise<void> }) {
  const [isBusy, setBusy] = useState(false);
  const check = async () => {
    setBusy(true);
    await onCheck();
    setBusy(false);
  };
  return (
    <Notice tone="warn">
      <p>
        {rich(
          "An Ollama runs on this machine, but it has no model yet. Choose one in Ollama's window, or type <c>ollama pull llama3.2</c> in a terminal. Then it costs nothing, and nothing leaves the machine.",
          { c: (words, key) => <code key={key}>{words}</code> },
        )}
      </p>
      <Button onClick={() => void check()} isBusy={isBusy}>
        {t("Look again")}
      </Button>
    </Notice>
  );
}

/** An Ollama that runs here, but is not used because a key is set. */
function FoundOllama({
  list,
  onStored,
  onDone,
}: {
  list: ProviderList;
  onStored: () => Promise<void>;
  onDone: () => void;
}) {
  const local = list.providers.find(({ canChangeAddress }) => canChangeAddress);
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const { baseUrl } = list.ollama;
  if (!local || baseUrl === null || local.baseUrl === baseUrl) return null;
  const use = async () => {
    setBusy(true);
    try {
      await saveProvider(local.id, { baseUrl });
      await onStored();
      onDone();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Notice>
      <p>{t("An Ollama runs on this machine. Its models cost nothing, and nothing leaves the machine.")}</p>
      {error !== undefined && <ErrorNote error={error} />}
      <Button onClick={() => void use()} isBusy={isBusy}>
        {t("Use Ollama, too")}
      </Button>
    </Notice>
  );
}
