// What an import has brought: the new agent, and where to switch on what arrived switched off.

import { useMutation } from "@tanstack/react-query";
import { Link } from "wouter";
import { visibleText } from "../../../../src/kernel/util/text/visible-text.ts";
import { api, path } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { messageOf } from "../../../parts/error-note.tsx";
import { showError } from "../../../parts/toast.tsx";
import { Notice } from "../../../parts/values/status.tsx";
import { rich, type Text, t, text, tn } from "../../../viewer/language.ts";
import { keyWords } from "../config/key-words.ts";

/** Of the answer of `POST /api/agents/import`. */
export interface Imported {
  agent: { id: string; name: string };
  switchedOff: SwitchedOff[];
}

interface SwitchedOff {
  kind: "skill" | "setting" | "reminders" | "schedules" | "publicPage" | "instructions";
  name: string;
}

/** The page below the agent's address on which a setting is changed. */
const PAGES: Readonly<Record<string, string>> = {
  channels: "/channels",
  mcpServers: "/skills",
  schedules: "/schedules",
  approvals: "/skills",
};

const SET_UP = "/set-up";

export const ImportedNote = ({ agent, switchedOff }: Imported) => (
  <div className="w-full" role="status">
    <Notice tone="good">
      <p>
        {t("Imported:")}{" "}
        <Link href={`/agents/${agent.id}`} className="font-medium underline">
          {visibleText(agent.name)}
        </Link>
      </p>
      {switchedOff.length > 0 && (
        <>
          <p>{t("Some of it arrived switched off, until you have looked at it:")}</p>
          <ul className="list-disc pl-5">
            {switchedOff.map((one) => (
              <li key={`${one.kind} ${one.name}`}>
                <HowTo agentId={agent.id} {...one} />
              </li>
            ))}
          </ul>
        </>
      )}
    </Notice>
  </div>
);

const SENTENCES: Readonly<Record<"skill" | "setting" | "publicPage" | "instructions", Text>> = {
  skill: text("The skill {name}: switch it on under <a>Skills</a>, once you have installed it if it is missing."),
  setting: text("{name}: look at it <a>here</a>, and add what you want of the file."),
  publicPage: text("The public page: switch it on <a>here</a>."),
  instructions: text(
    "The instructions: until you have read and saved them <a>here</a>, everything but reading asks you first.",
  ),
};

function HowTo({ agentId, kind, name }: SwitchedOff & { agentId: string }) {
  if (kind === "reminders") return <Reminders agentId={agentId} count={Number(name)} />;
  const link = (page: string) => ({
    a: (words: string, key: string) => (
      <Link key={key} href={`/agents/${agentId}${page}`} className="underline">
        {words}
      </Link>
    ),
  });
  if (kind === "schedules") {
    return <>{rich("{name} schedules: switch them on under <a>Schedules</a>.", link("/schedules"), { name })}</>;
  }
  const page = { skill: "/skills", setting: PAGES[name] ?? SET_UP, publicPage: "/public", instructions: SET_UP }[kind];
  const shown = kind === "setting" ? (keyWords(name) ?? name) : visibleText(name);
  return <>{rich(SENTENCES[kind], link(page), { name: shown })}</>;
}

/** No page lists reminders, so they are switched on here. */
function Reminders({ agentId, count }: { agentId: string; count: number }) {
  const switchOn = useMutation({
    async mutationFn() {
      const at = path`/api/agents/${agentId}/reminders`;
      const { reminders } = await api.get<{ reminders: { id: string; enabled: boolean }[] }>(at);
      const off = reminders.filter(({ enabled }) => !enabled);
      await Promise.all(off.map(({ id }) => api.patch(`${at}/${encodeURIComponent(id)}`, { enabled: true })));
    },
    onError: (error) => showError(messageOf(error)),
  });
  return (
    <span className="inline-flex flex-wrap items-center gap-2">
      {tn("{n} reminder", "{n} reminders", count)}
      {switchOn.isSuccess ? (
        t("switched on")
      ) : (
        <Button isBusy={switchOn.isPending} onClick={() => switchOn.mutate()}>
          {t("Switch on")}
        </Button>
      )}
    </span>
  );
}
