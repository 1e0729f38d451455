// The two default models of agents, and the choice of others from what the providers offer.

import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { ErrorNote, messageOf } from "../../../parts/error-note.tsx";
import { SearchField } from "../../../parts/forms/search-field.tsx";
import { EmptyState } from "../../../parts/page/empty-state.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { showError, showToast } from "../../../parts/toast.tsx";
import { formatNumber, formatUsd, type Text, t, text, tn } from "../../../viewer/language.ts";
import type { ChosenModel, Provider } from "../providers.ts";

interface Offered {
  model: string;
  name: string;
  provider: string;
  inputUsdPerMillion: number | null;
  outputUsdPerMillion: number | null;
  contextWindow: number;
}

interface Answer {
  models: ChosenModel[];
  choices: Offered[];
  total: number;
}

type Choice = ChosenModel["choice"];

const ADDRESS = "/api/admin/default-models";
const KEY = ["default-models"] as const;

const LABELS: Readonly<Record<Choice, { label: Text; hint: Text }>> = {
  model_a: { label: text("First choice"), hint: text("New agents begin with it (model_a).") },
  model_b: { label: text("Second choice"), hint: text("Often a smaller, cheaper one (model_b).") },
};

/** The provider's own id in `provider_N:id`. */
const idOf = (reference: string) => reference.slice(reference.indexOf(":") + 1);

export function DefaultModels({ providers }: { providers: readonly Provider[] }) {
  const labelOf = (reference: string) => providers.find(({ id }) => reference.startsWith(`${id}:`))?.label ?? reference;
  const client = useQueryClient();
  const { data, error, refetch } = useQuery({ queryKey: KEY, queryFn: () => api.get<Answer>(ADDRESS, { limit: 1 }) });
  const [open, setOpen] = useState<Choice>();
  const save = useMutation({
    mutationFn: ({ choice, model }: { choice: Choice; model: string | null }) =>
      api.patch<Answer>(ADDRESS, { [choice]: model }),
    onMutate: ({ choice, model }) =>
      client.setQueryData<Answer>(
        KEY,
        (before) =>
          before && {
            ...before,
            models: before.models.map((one) => (one.choice === choice && model !== null ? { ...one, model } : one)),
          },
      ),
    onError: (failure) => showError(messageOf(failure)),
    onSettled: () => client.invalidateQueries({ queryKey: KEY }),
  });
  function choose(choice: Choice, model: string | null): void {
    const before = data?.models.find((one) => one.choice === choice);
    setOpen(undefined);
    save.mutate(
      { choice, model },
      {
        onSuccess: () =>
          showToast(t("Agents use it from their next turn on"), {
            label: t("Undo"),
            run: () => save.mutate({ choice, model: before?.source === "stored" ? before.model : null }),
          }),
      },
    );
  }
  if (error && !data) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton className="h-24" />;
  return (
    <>
      <ul className="-my-3 divide-y divide-edge">
        {data.models.map((one) => (
          <li key={one.choice} className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3">
            <div className="min-w-0 flex-1 basis-56">
              <h3 className="font-semibold">{t(LABELS[one.choice].label)}</h3>
              <p>
                <span className="font-mono text-sm">{idOf(one.model)}</span>{" "}
                <span className="text-soft text-sm">{labelOf(one.model)}</span>
              </p>
              <p className="text-soft text-sm">
                <Why chosen={one} />
              </p>
            </div>
            {one.source !== "environment" && (
              <div className="flex gap-2">
                {one.source === "stored" && (
                  <Button onClick={() => choose(one.choice, null)}>{t("Back to the built-in one")}</Button>
                )}
                <Button onClick={() => setOpen(one.choice)}>{t("Choose another")}</Button>
              </div>
            )}
          </li>
        ))}
      </ul>
      {open && (
        <ChooseModel
          title={t(LABELS[open].label)}
          current={data.models.find(({ choice }) => choice === open)?.model ?? ""}
          onChoose={(model) => choose(open, model)}
          onClose={() => setOpen(undefined)}
        />
      )}
    </>
  );
}

function Why({ chosen: { choice, source, variable, isUsable } }: { chosen: ChosenModel }) {
  const about = t(LABELS[choice].hint);
  if (source === "environment") return t("{about} The environment sets it ({variable}).", { about, variable });
  if (!isUsable) return t("{about} Its provider is not set up: the first one that is serves instead.", { about });
  return about;
}

interface ChooseProps {
  title: string;
  current: string;
  onChoose: (model: string) => void;
  onClose: () => void;
}

const PAGE = 40;

function ChooseModel({ title, current, onChoose, onClose }: ChooseProps) {
  const [query, setQuery] = useState("");
  const [limit, setLimit] = useState(PAGE);
  const { data, error, refetch } = useQuery({
    queryKey: [...KEY, "choices", query, limit],
    queryFn: ({ signal }) => api.get<Answer>(ADDRESS, { query, limit }, signal),
    placeholderData: keepPreviousData,
  });
  return (
    <Dialog title={title} onClose={onClose} width="wide">
      <div className="flex min-h-80 flex-col gap-3">
        <SearchField
          label={t("Search models")}
          value={query}
          onSearch={(value) => {
            setQuery(value);
            setLimit(PAGE);
          }}
        />
        {error && !data && <ErrorNote error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Skeleton className="h-64" />}
        {data?.total === 0 && (
          <EmptyState title={t("No model has this name")}>
            {t("Try fewer letters, or add a key of its provider.")}
          </EmptyState>
        )}
        <p role="status" className="text-soft text-sm">
          {data && tn("{n} model", "{n} models", data.total)}
        </p>
        <ul className="divide-y divide-edge">
          {data?.choices.map((one) => (
            <li key={one.model}>
              <button
                type="button"
                aria-current={one.model === current || undefined}
                onClick={() => onChoose(one.model)}
                className="flex w-full flex-wrap items-baseline gap-x-4 rounded-round px-2 py-2 text-left hover:bg-hover aria-[current]:bg-wash"
              >
                <span className="min-w-0 flex-1 basis-56">
                  <span className="block font-medium">{one.name}</span>
                  <span className="block text-soft text-sm">
                    <span className="font-mono">{idOf(one.model)}</span>, {one.provider}
                  </span>
                </span>
                <span className="text-soft text-sm">{describePrice(one)}</span>
              </button>
            </li>
          ))}
        </ul>
        {data && data.total > data.choices.length && limit < 200 && (
          <div>
            <Button onClick={() => setLimit((before) => Math.min(200, before + PAGE))}>{t("Show more")}</Button>
          </div>
        )}
      </div>
    </Dialog>
  );
}

function describePrice({ inputUsdPerMillion: input, outputUsdPerMillion: output, contextWindow }: Offered): string {
  const window = t("reads {n} tokens", { n: formatNumber(contextWindow, { notation: "compact" }) });
  if (input === null || output === null) return t("price not known, {window}", { window });
  if (input === 0 && output === 0) return t("free, {window}", { window });
  return t("{input} in, {output} out per million, {window}", {
    input: formatUsd(input),
    output: formatUsd(output),
    window,
  });
}
