// The facts that an agent remembers: search, correct, pin, forget, teach.

import { Plus, X } from "lucide-react";
import { api, path } from "../../../api/api.ts";
import { useLive } from "../../../api/events.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote, messageOf } from "../../../parts/error-note.tsx";
import { Choice } from "../../../parts/forms/choice.tsx";
import { SearchField } from "../../../parts/forms/search-field.tsx";
import { VirtualList } from "../../../parts/lists/virtual-list.tsx";
import { EmptyState } from "../../../parts/page/empty-state.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { showError, withUndo } from "../../../parts/toast.tsx";
import { useParameter } from "../../../viewer/address.ts";
import { t, text } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { useConversationNames } from "../conversations.ts";
import { type Fact, factsKey, useFacts, useShownFacts } from "./data.ts";
import { FactRow } from "./fact-row.tsx";
import { SkillIsOff } from "./skill-is-off.tsx";
import { TeachForm } from "./teach-form.tsx";

export function Facts() {
  const { id: agentId, name } = useAgent();
  const [query, setQuery] = useParameter("q");
  const [kind, setKind] = useParameter("kind");
  const [about, setAbout] = useParameter("about");
  const [adding, setAdding] = useParameter("add");
  const isTeaching = adding === "fact";
  const setTeaching = (next: boolean) => setAdding(next ? "fact" : "");
  const facts = useFacts(agentId, { query, kind, about });
  const nameOf = useConversationNames(agentId);
  const shown = useShownFacts(agentId);
  useLive(factsKey(agentId), ["agent.message"], ({ data }) => data.agentId === agentId);
  const items = facts.data?.pages.flatMap(({ memories }) => memories);
  const isFiltered = query !== "" || kind !== "" || about !== "";
  const addressOf = (fact: Fact) => path`/api/agents/${agentId}/memories/${fact.id}`;

  async function pin(fact: Fact): Promise<void> {
    const pinned = !fact.pinned;
    const undo = shown.change((list) => list.map((one) => (one.id === fact.id ? { ...one, pinned } : one)));
    try {
      await api.patch(addressOf(fact), { pinned });
      await shown.refresh();
    } catch (error) {
      undo();
      showError(messageOf(error));
    }
  }

  const forget = (fact: Fact) =>
    withUndo(
      t("Forgotten"),
      () => shown.change((list) => list.filter((one) => one.id !== fact.id)),
      () => api.delete(addressOf(fact)),
    );

  async function correct(fact: Fact, text: string): Promise<void> {
    const { memory } = await api.patch<{ memory: Fact }>(addressOf(fact), { text });
    shown.change((list) => list.map((one) => (one.id === fact.id ? memory : one)));
  }

  return (
    <Section
      title={t("Memory")}
      hint={t(
        "Facts that {name} keeps beyond a conversation. What other people say stays in their own conversations.",
        { name },
      )}
      actions={
        !isTeaching && (
          <Button look="primary" onClick={() => setTeaching(true)}>
            <Plus aria-hidden="true" />
            {t("Teach a fact")}
          </Button>
        )
      }
    >
      <div className="-m-4 flex flex-col overflow-hidden rounded-b-large">
        <SkillIsOff
          agentId={agentId}
          skill="memory"
          words={text("The memory is switched off, so these facts are not used. <a>Switch it on under Skills.</a>")}
          className="border-edge border-b p-4"
        />
        {isTeaching && (
          <TeachForm
            agentId={agentId}
            about={about}
            person={about ? nameOf(about) : undefined}
            onCancel={() => setTeaching(false)}
            onTaught={() => {
              setTeaching(false);
              void shown.refresh();
            }}
          />
        )}
        {(isFiltered || items?.length !== 0) && (
          <div className="flex flex-wrap items-center gap-3 px-4 py-3">
            <div className="min-w-52 flex-1">
              <SearchField label={t("Search the memory")} value={query} onSearch={setQuery} />
            </div>
            {about ? (
              <Button onClick={() => setAbout("")}>
                {nameOf(about)}
                <X aria-label={t("Show all")} />
              </Button>
            ) : (
              <Choice
                label={t("Whose facts")}
                value={kind}
                options={[
                  { value: "", label: t("All") },
                  { value: "own", label: t("Yours") },
                  { value: "person", label: t("Other people's") },
                  { value: "world", label: t("About the world") },
                ]}
                onChange={setKind}
              />
            )}
          </div>
        )}
        {facts.error && !items && (
          <div className="p-4">
            <ErrorNote error={facts.error} onRetry={() => void facts.refetch()} />
          </div>
        )}
        {!items && !facts.error && <FactsSkeleton />}
        {items?.length === 0 && <NoFacts name={name} isFiltered={isFiltered} onTeach={() => setTeaching(true)} />}
        {items && items.length > 0 && (
          <VirtualList
            label={t("Facts")}
            items={items}
            estimate={76}
            keyOf={({ id }) => id}
            onEnd={() => {
              if (facts.hasNextPage && !facts.isFetchingNextPage) void facts.fetchNextPage();
            }}
            renderItem={(fact) => (
              <FactRow
                fact={fact}
                person={fact.about === null ? undefined : nameOf(fact.about)}
                onPin={() => void pin(fact)}
                onForget={() => forget(fact)}
                onCorrect={(text) => correct(fact, text)}
                onPerson={() => setAbout(fact.about ?? "")}
              />
            )}
          />
        )}
      </div>
    </Section>
  );
}

function NoFacts({ name, isFiltered, onTeach }: { name: string; isFiltered: boolean; onTeach: () => void }) {
  return (
    <div className="p-4">
      {isFiltered ? (
        <EmptyState title={t("No fact fits")}>{t("Try other words, or show the facts of everybody.")}</EmptyState>
      ) : (
        <EmptyState title={t("Nothing yet")} action={<Button onClick={onTeach}>{t("Teach the first fact")}</Button>}>
          {t(
            "{name} notes preferences, names, dates and decisions while you talk. You can also say in a chat: “Remember that we close at six.”",
            { name },
          )}
        </EmptyState>
      )}
    </div>
  );
}

const FactsSkeleton = () => (
  <div role="status" className="flex flex-col gap-5 p-4">
    <span className="sr-only">{t("Loading…")}</span>
    {[0, 1, 2, 3].map((row) => (
      <div key={row} className="flex flex-col gap-2">
        <Skeleton className="h-4 w-2/3" />
        <Skeleton className="h-3 w-1/3" />
      </div>
    ))}
  </div>
);
