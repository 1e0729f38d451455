// The list of an agent's people, who wrote last first, with a search.

import { Download, Eraser } from "lucide-react";
import { useState } from "react";
import { useLive } from "../../../api/events.ts";
import { Button, buttonClass } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { SearchField } from "../../../parts/forms/search-field.tsx";
import { MoreButton } from "../../../parts/lists/more-button.tsx";
import { Rows } from "../../../parts/lists/rows.tsx";
import { EmptyState } from "../../../parts/page/empty-state.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { PlatformIcon, platformName } from "../../../parts/values/platform.tsx";
import { When } from "../../../parts/values/when.tsx";
import { useParameter } from "../../../viewer/address.ts";
import { t, tn } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { nameOf, type Person, pathOf, peopleKey, usePeople } from "./data.ts";
import { EraseDialog } from "./erase-dialog.tsx";

export function People() {
  const { id: agentId, name } = useAgent();
  const [query, setQuery] = useParameter("q");
  const [chosen, choose] = useState<Person>();
  const people = usePeople(agentId, query);
  useLive(peopleKey(agentId), ["agent.message"], ({ data }) => data.agentId === agentId);
  const rows = people.data?.pages.flatMap((page) => page.people);
  return (
    <Section
      title={t("People")}
      hint={t("Those who wrote to {name} on its channels and public pages. You and its other owners are not here.", {
        name,
      })}
    >
      {(query !== "" || rows?.length !== 0) && (
        <div className="mb-4 max-w-96">
          <SearchField label={t("Search names and ids")} value={query} onSearch={setQuery} />
        </div>
      )}
      {people.error && !rows && <ErrorNote error={people.error} onRetry={() => void people.refetch()} />}
      {!rows && !people.error && <Skeleton className="h-40" />}
      {rows?.length === 0 &&
        (query === "" ? (
          <EmptyState title={t("No one has written yet")}>
            {t("Who writes to the agent appears here. They may ask you for a copy of their data, or to be forgotten.")}
          </EmptyState>
        ) : (
          <EmptyState title={t("No person fits")}>
            {t("Search for a part of their name, or of their id on the platform.")}
          </EmptyState>
        ))}
      {rows && rows.length > 0 && (
        <Rows
          label={t("People")}
          rows={rows}
          keyOf={({ channel, id }) => `${channel} ${id}`}
          columns="md:grid-cols-[minmax(0,1fr)_8rem_8rem_auto]"
        >
          {(person) => (
            <>
              <div className="flex min-w-0 max-w-full items-center gap-2">
                <PlatformIcon id={person.channel} />
                <div className="min-w-0">
                  <p className="truncate font-medium">
                    <bdi>{nameOf(person)}</bdi>
                  </p>
                  <p className="truncate text-soft text-sm">
                    {platformName(person.channel)}
                    {person.name && ` · ${person.id}`}
                  </p>
                </div>
              </div>
              <span className="text-soft">{tn("{n} message", "{n} messages", person.messages)}</span>
              <span className="text-soft">
                <When at={person.lastAt} />
              </span>
              <div className="flex flex-wrap gap-2">
                <a
                  href={`${pathOf(agentId, person)}/export`}
                  download
                  className={buttonClass("quiet")}
                  aria-label={t("Get a copy: {name}", { name: nameOf(person) })}
                >
                  <Download aria-hidden="true" />
                  {t("Get a copy")}
                </a>
                <Button
                  look="danger"
                  onClick={() => choose(person)}
                  aria-label={t("Erase: {name}", { name: nameOf(person) })}
                >
                  <Eraser aria-hidden="true" />
                  {t("Erase…")}
                </Button>
              </div>
            </>
          )}
        </Rows>
      )}
      <MoreButton query={people} />
      {chosen && <EraseDialog person={chosen} onClose={() => choose(undefined)} />}
    </Section>
  );
}
