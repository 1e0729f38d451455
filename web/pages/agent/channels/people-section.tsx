// Who talks to the agent on one platform: those who ask, the owners, those who may, and those who were refused.

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote, messageOf } from "../../../parts/error-note.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { showError, showToast } from "../../../parts/toast.tsx";
import { Badge } from "../../../parts/values/status.tsx";
import { When } from "../../../parts/values/when.tsx";
import { t, tn } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { AddPerson } from "./add-person.tsx";
import { Letter } from "./channel-icon.tsx";
import {
  type Access,
  type AccessChange,
  type ChannelKind,
  type Connection,
  channelPath,
  connectionsKey,
  type Person,
  useAccess,
  usePeople,
} from "./data.ts";

const SHOWN_AT_FIRST = 20;

export function PeopleSection({ kind, connection }: { kind: ChannelKind; connection: Connection }) {
  const agent = useAgent();
  const access = useAccess(agent.id, kind.channel);
  const people = usePeople(agent.id, kind.channel);
  const [isLong, setLong] = useState(false);
  const { decide, change } = useDecisions(agent.id, kind.channel);
  const error = access.error ?? people.error;
  if (!access.data || !people.data) {
    const retry = () => void Promise.all([access.refetch(), people.refetch()]);
    return error ? <ErrorNote error={error} onRetry={retry} /> : <Skeleton className="mb-5 h-40" />;
  }
  const { data } = access;
  const all = people.data.pairings;
  const waiting = all.filter(({ status }) => status === "pending");
  const rows = listPeople(data, all);
  const shown = isLong ? rows : rows.slice(0, SHOWN_AT_FIRST);
  return (
    <Section title={t("People")} hint={whoMayTalk(data)}>
      <div className="flex flex-col gap-4">
        {waiting.length > 0 && (
          <ul aria-label={t("People who ask")} className="flex flex-col gap-2">
            {waiting.map((person) => (
              <li
                key={person.senderId}
                className="flex flex-wrap items-center gap-3 rounded-large border border-warn bg-warn-wash p-3"
              >
                <Letter name={person.name} />
                <div className="min-w-48 flex-1">
                  <p className="font-semibold">
                    <bdi>{person.name || person.senderId}</bdi> <span className="font-normal">{t("asks to talk")}</span>
                  </p>
                  <p className="text-sm text-soft">
                    <When at={person.createdAt} /> · {t("id {id}", { id: person.senderId })} ·{" "}
                    {t("code {code}", { code: person.code ?? "" })}
                  </p>
                </div>
                <div className="flex flex-wrap gap-2">
                  <Button look="primary" onClick={() => void decide(person, "approved")}>
                    {t("Let them talk")}
                  </Button>
                  {connection.ownerId === null && (
                    <Button onClick={() => void decide(person, "approved", true)}>{t("This is me")}</Button>
                  )}
                  <Button onClick={() => void decide(person, "denied")}>{t("Refuse")}</Button>
                </div>
              </li>
            ))}
          </ul>
        )}
        {rows.length > 0 && (
          <ul aria-label={t("People")} className="divide-y divide-edge">
            {shown.map((row) => (
              <li key={`${row.role} ${row.id}`} className="flex flex-wrap items-center gap-3 py-2">
                <Letter name={row.name || row.id} />
                <div className="min-w-40 flex-1">
                  <p>
                    <bdi className="font-medium">{row.name || row.id}</bdi>{" "}
                    <Badge tone={ROLE_TONES[row.role]}>{nameOfRole(row.role)}</Badge>
                  </p>
                  {row.name && <p className="text-soft text-sm">{row.id}</p>}
                </div>
                {row.role === "refused" ? (
                  <Button look="bare" onClick={() => row.person && void decide(row.person, "approved")}>
                    {t("Let them talk after all")}
                  </Button>
                ) : (
                  <Button
                    look="bare"
                    onClick={() =>
                      row.removal
                        ? void change(row.removal, row.undo)
                        : row.person && void decide(row.person, "removed")
                    }
                    aria-label={t("Remove {name}", { name: row.name || row.id })}
                  >
                    {t("Remove")}
                  </Button>
                )}
              </li>
            ))}
          </ul>
        )}
        {rows.length > shown.length && (
          <Button onClick={() => setLong(true)}>
            {tn("Show {n} more person", "Show {n} more people", rows.length - shown.length)}
          </Button>
        )}
        <AddPerson kind={kind} access={data} hasWaiting={waiting.length > 0} />
      </div>
    </Section>
  );
}

type Role = "owner" | "may" | "listed" | "refused";

const ROLE_TONES = { owner: "busy", may: "good", listed: "good", refused: "idle" } as const;

function nameOfRole(role: Role): string {
  if (role === "owner") return t("Owner");
  return role === "refused" ? t("Refused") : t("May talk");
}

interface Row {
  id: string;
  name: string;
  role: Role;
  person?: Person;
  /** For those in the settings: what removes them, and what brings them back. */
  removal?: AccessChange;
  undo?: AccessChange;
}

/** Everybody with a part in this, owners first. People on a list count only where the rule says so. */
function listPeople({ access, owner, owners, allow }: Access, people: readonly Person[]): Row[] {
  const nameOf = (id: string) => people.find(({ senderId }) => senderId === id)?.name ?? "";
  const isOwner = (id: string) => id === owner || owners.includes(id);
  const without = (list: readonly string[], id: string) => list.filter((one) => one !== id);
  const rows: Row[] = [];
  if (owner !== null) {
    rows.push({ id: owner, name: nameOf(owner), role: "owner", removal: { owner: null }, undo: { owner } });
  }
  for (const id of without(owners, owner ?? "")) {
    rows.push({ id, name: nameOf(id), role: "owner", removal: { owners: without(owners, id) }, undo: { owners } });
  }
  if (access === "allowlist") {
    for (const id of allow.filter((one) => !isOwner(one))) {
      rows.push({ id, name: nameOf(id), role: "listed", removal: { allow: without(allow, id) }, undo: { allow } });
    }
  }
  const others = people.filter(({ senderId, status }) => status !== "pending" && !isOwner(senderId));
  for (const person of others) {
    const isRefused = person.status === "denied";
    if (!isRefused && access !== "pairing") continue;
    rows.push({ id: person.senderId, name: person.name, role: isRefused ? "refused" : "may", person });
  }
  return rows;
}

function whoMayTalk({ access }: Access): string {
  if (access === "open") return t("Everybody gets an answer, and spends your budget.");
  if (access === "owner") return t("Only owners get an answer. Others get none.");
  if (access === "allowlist") return t("Owners and the people listed here get an answer. Others get none.");
  return t("Owners and people you let in get an answer. Strangers get a code, and appear here.");
}

/** Writes decisions, each with a way back. */
function useDecisions(agentId: string, channel: string) {
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: connectionsKey(agentId) });

  async function run(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      showError(messageOf(error));
      return false;
    } finally {
      await refresh();
    }
  }
  const undo = (work: () => Promise<unknown>) => ({ label: t("Undo"), run: () => void run(work) });
  const put = ({ senderId, name }: Person, status: "approved" | "denied", owner = false) =>
    api.put(channelPath(agentId, channel, `/pairings/${encodeURIComponent(senderId)}`), { status, name, owner });
  const remove = ({ senderId }: Person) =>
    api.delete(channelPath(agentId, channel, `/pairings/${encodeURIComponent(senderId)}`));

  /** Decides about a person; as an owner they become the bot's. */
  async function decide(person: Person, decision: "approved" | "denied" | "removed", owner = false): Promise<void> {
    const name = person.name || person.senderId;
    const isDone = await run(() => (decision === "removed" ? remove(person) : put(person, decision, owner)));
    if (!isDone) return;
    if (decision === "removed")
      return showToast(
        t("{name} is removed", { name }),
        undo(() => put(person, "approved")),
      );
    if (decision === "denied")
      return showToast(
        t("{name} is refused", { name }),
        undo(() => put(person, "approved")),
      );
    showToast(
      owner ? t("The agent obeys {name} now", { name }) : t("{name} can talk to your agent now", { name }),
      owner ? undefined : undo(() => put(person, "denied")),
    );
  }

  const write = (next: AccessChange) => api.put(channelPath(agentId, channel, "/access"), next);
  async function change(next: AccessChange, back: AccessChange | undefined): Promise<void> {
    if (await run(() => write(next))) showToast(t("Saved"), back && undo(() => write(back)));
  }
  return { decide, change };
}
