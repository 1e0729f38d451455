// A dialog that finds a model: by name, provider and what it can do, with its price; an own id is possible, too.

import { useInfiniteQuery } from "@tanstack/react-query";
import { Check } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/api.ts";
import { type Model, type ModelList, priceText, windowText } from "../../data/models.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { CheckField, SelectField } from "../../parts/forms/field.tsx";
import { SearchField } from "../../parts/forms/search-field.tsx";
import { VirtualBox } from "../../parts/lists/virtual-list.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Badge } from "../../parts/values/status.tsx";
import { said, t, tn } from "../../viewer/language.ts";

interface Props {
  /** `provider_N:id` or a bare id. */
  chosen?: string | undefined;
  onChoose: (reference: string) => void;
  onClose: () => void;
}

const PAGE = 200;

export default function ModelPicker({ chosen, onChoose, onClose }: Props) {
  const [query, setQuery] = useState("");
  const [provider, setProvider] = useState("");
  const [hasKeyOnly, setHasKeyOnly] = useState(false);
  const filters = { query: query || undefined, provider: provider || undefined, available: hasKeyOnly ? 1 : undefined };
  const { data, error, refetch, fetchNextPage, hasNextPage } = useInfiniteQuery({
    queryKey: ["models", "search", filters],
    queryFn: ({ pageParam, signal }) =>
      api.get<ModelList>("/api/models", { ...filters, limit: PAGE, offset: pageParam }, signal),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (pages.length * PAGE < last.total ? pages.length * PAGE : undefined),
    placeholderData: (before) => before,
    staleTime: 5 * 60_000,
  });
  const [first] = data?.pages ?? [];
  // The demo answers by itself where no model can; it is nothing to choose.
  const models = data?.pages.flatMap((page) => page.models.filter(({ available }) => !(page.demo && available))) ?? [];
  const typed = query.trim();
  const isExact = models.some(({ id, reference }) => id === typed || reference === typed);
  const canUseTyped = /^\S{3,200}$/.test(typed) && !isExact;

  return (
    <Dialog title={t("Choose a model")} width="wide" onClose={onClose}>
      <div className="flex h-[min(34rem,calc(100dvh-10rem))] flex-col gap-3">
        <div className="grid gap-2 sm:grid-cols-[minmax(0,1fr)_12rem]">
          <SearchField label={t("Name or id")} value={query} onSearch={setQuery} />
          <SelectField
            label={t("Provider")}
            isLabelHidden
            value={provider}
            onChange={(event) => setProvider(event.target.value)}
          >
            <option value="">{t("All providers")}</option>
            {first?.providers.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </SelectField>
        </div>
        <div className="flex flex-wrap items-center justify-between gap-2">
          <CheckField
            label={t("Only models that can answer now")}
            checked={hasKeyOnly}
            onChange={(event) => setHasKeyOnly(event.target.checked)}
          />
          <p role="status" className="text-soft text-sm">
            {first && tn("{n} model", "{n} models", first.total)}
          </p>
        </div>
        {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Skeleton className="h-full" />}
        {data && (
          <VirtualBox
            label={t("Models")}
            items={models}
            estimate={76}
            keyOf={({ reference }) => reference}
            onEnd={() => hasNextPage && void fetchNextPage()}
            renderItem={(model) => (
              <ModelRow
                model={model}
                isChosen={model.reference === chosen || model.id === chosen}
                onChoose={() => onChoose(model.reference)}
              />
            )}
          />
        )}
        {canUseTyped && (
          <div className="flex flex-wrap items-center gap-2 border-edge border-t pt-3">
            <p className="min-w-0 flex-1 text-soft text-sm">
              {t("A model that is not in the list works, too, if its provider knows the id.")}
            </p>
            <Button onClick={() => onChoose(typed)}>{t("Use “{id}”", { id: typed })}</Button>
          </div>
        )}
      </div>
    </Dialog>
  );
}

function ModelRow({ model, isChosen, onChoose }: { model: Model; isChosen: boolean; onChoose: () => void }) {
  const { name, providerName, description, available, contextWindow } = model;
  return (
    <button
      type="button"
      aria-pressed={isChosen}
      onClick={onChoose}
      className="grid w-full grid-cols-[minmax(0,1fr)_auto] gap-x-3 border-edge border-b px-2 py-2 text-left -outline-offset-2 transition-colors hover:bg-hover aria-pressed:bg-wash"
    >
      <span className="flex min-w-0 flex-wrap items-center gap-x-2">
        {isChosen && <Check className="size-4 text-sea" aria-hidden="true" />}
        <span className="font-medium">{name}</span>
        <span className="text-soft text-sm">{said(providerName)}</span>
        {!available && <Badge tone="warn">{t("needs a key")}</Badge>}
      </span>
      <span className="text-right text-sm">{priceText(model)}</span>
      <span className="min-w-0 truncate text-soft text-sm">{description}</span>
      <span className="flex flex-wrap justify-end gap-1">
        {model.tools && <Badge>{t("tools")}</Badge>}
        {abilitiesOf(model.inputs).map((ability) => (
          <Badge key={ability}>{ability}</Badge>
        ))}
        {contextWindow !== null && <span className="text-soft text-sm">{windowText(contextWindow)}</span>}
      </span>
    </button>
  );
}

function abilitiesOf(inputs: readonly string[]): string[] {
  const names: readonly (readonly [string, string])[] = [
    ["image", t("pictures")],
    ["audio", t("audio")],
    ["pdf", t("PDF")],
  ];
  return names.flatMap(([kind, name]) => (inputs.includes(kind) ? [name] : []));
}
