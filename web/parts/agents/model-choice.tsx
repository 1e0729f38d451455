// Chooses the model of an agent: the two that the operator offers, or any other of the catalogue.

import { useId, useState } from "react";
import { Link } from "wouter";
import { type ModelChoice as Choice, priceText, useModelChoices, windowText } from "../../data/models.ts";
import { useUser } from "../../session/session.tsx";
import { loadTexts, t } from "../../viewer/language.ts";
import { Button } from "../button.tsx";
import { ErrorNote } from "../error-note.tsx";
import { lazyDialog } from "../lazy.tsx";
import { Skeleton } from "../skeleton.tsx";
import { Badge, Notice } from "../values/status.tsx";

const ModelPicker = lazyDialog(
  async () => (await Promise.all([import("../../pages/model-picker/index.tsx"), loadTexts("model-picker")]))[0],
);

export interface ModelValue {
  /** model_a, model_b or custom. */
  choice: string;
  /** The reference of the choice `custom`. */
  own: string;
}

interface Props {
  value: ModelValue;
  /** Whose keys count. */
  agentId?: string;
  error?: string | undefined;
  onChange: (value: ModelValue) => void;
}

export function ModelChoice({ value, agentId, error, onChange }: Props) {
  const name = useId();
  const { isAdmin } = useUser();
  const { data, error: loadError, refetch } = useModelChoices(agentId);
  const [isPicking, setPicking] = useState(false);
  if (loadError) return <ErrorNote error={loadError} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton className="h-36" />;
  const { model_a, model_b } = data.choices;
  const isSame = model_a.reference === model_b.reference;
  const radio = (choice: string) => ({
    name,
    isChosen: value.choice === choice,
    onChoose: () => onChange({ ...value, choice }),
  });
  return (
    <div className="flex flex-col gap-2">
      {data.demo && (
        <Notice tone="warn">
          <p>
            {t("No AI provider has a key yet, so the built-in demo answers. It follows simple rules.")}{" "}
            {isAdmin ? (
              <Link href="/admin/models" className="text-sea underline">
                {t("Add a key")}
              </Link>
            ) : (
              t("An admin can add a key.")
            )}
          </p>
        </Notice>
      )}
      <fieldset className="grid gap-2 md:grid-cols-3">
        <legend className="sr-only">{t("Model")}</legend>
        <Option {...radio("model_a")} title={t("Standard")} choice={model_a} />
        {!isSame && <Option {...radio("model_b")} title={t("Alternative")} choice={model_b} />}
        <Option
          {...radio("custom")}
          onChoose={() => (value.own ? onChange({ ...value, choice: "custom" }) : setPicking(true))}
          title={t("Another model")}
          own={value.own}
        />
      </fieldset>
      {value.choice === "custom" && (
        <div>
          <Button onClick={() => setPicking(true)}>{t("Choose a model…")}</Button>
        </div>
      )}
      {error && (
        <p role="alert" className="text-bad text-sm">
          {error}
        </p>
      )}
      {isPicking && (
        <ModelPicker
          chosen={value.own}
          onClose={() => setPicking(false)}
          onChoose={(own) => {
            setPicking(false);
            onChange({ choice: "custom", own });
          }}
        />
      )}
    </div>
  );
}

interface OptionProps {
  name: string;
  isChosen: boolean;
  title: string;
  choice?: Choice;
  own?: string;
  onChoose: () => void;
}

const Option = ({ name, isChosen, title, choice, own, onChoose }: OptionProps) => (
  <label className="flex items-start gap-2.5 rounded-large border border-line p-3 transition-colors hover:bg-hover has-checked:border-sea has-checked:bg-wash">
    <input type="radio" name={name} checked={isChosen} onChange={onChoose} className="mt-1 accent-fill" />
    <span className="min-w-0">
      <span className="flex flex-wrap items-center gap-2">
        <span className="text-soft text-sm">{title}</span>
        {choice?.ownKey && <Badge tone="busy">{t("your key")}</Badge>}
      </span>
      <span className="block font-medium">{choice?.name ?? own?.replace(/^provider_\d+:/, "") ?? ""}</span>
      {choice ? (
        <span className="block text-soft text-sm">
          {priceText(choice)}
          {choice.contextWindow !== null && ` · ${windowText(choice.contextWindow)}`}
        </span>
      ) : (
        <span className="block text-soft text-sm">{own || t("Search all models of all providers")}</span>
      )}
    </span>
  </label>
);
