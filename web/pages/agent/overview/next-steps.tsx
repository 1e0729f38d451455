// What to do next with a new agent; it disappears when all is done.

import { Circle, CircleCheck } from "lucide-react";
import { Link } from "wouter";
import type { AgentOverview } from "../../../data/agents.ts";
import { Section } from "../../../parts/page/page.tsx";
import { t } from "../../../viewer/language.ts";
import { useCurrentConfig } from "../config/config-data.ts";

export function NextSteps({ agent }: { agent: AgentOverview }) {
  const { data } = useCurrentConfig(agent.id);
  if (!data) return null;
  const { instructions, budget } = data.config;
  const written = typeof instructions === "string" ? instructions.trim() : "";
  const hasBlanks = /\[[^\]\n]+\]/.test(written);
  const steps = [
    {
      words: hasBlanks ? t("Fill in the [brackets] in its instructions") : t("Write what it should do"),
      isDone: written !== "" && !hasBlanks,
      href: "/set-up",
    },
    { words: t("Talk to it"), isDone: agent.lastActivityAt !== null, href: "/chat" },
    { words: t("Connect Telegram, Discord or WhatsApp"), isDone: agent.channels.length > 0, href: "/channels" },
    { words: t("Set what it may cost"), isDone: typeof budget === "object" && budget !== null, href: "/set-up" },
  ];
  const isAllDone = steps.every(({ isDone }) => isDone);
  if (isAllDone) return null;
  return (
    <Section title={t("Next steps")}>
      <ul className="flex flex-col gap-1.5">
        {steps.map(({ words, isDone, href }) => (
          <li key={words} className="flex items-start gap-2">
            {isDone ? (
              <CircleCheck className="mt-0.5 size-4.5 shrink-0 text-good" aria-hidden="true" />
            ) : (
              <Circle className="mt-0.5 size-4.5 shrink-0 text-soft" aria-hidden="true" />
            )}
            {isDone ? (
              <span className="text-soft">
                {words} <span className="sr-only">{t("(done)")}</span>
              </span>
            ) : (
              <Link href={`/agents/${agent.id}${href}`} className="text-sea underline underline-offset-2">
                {words}
              </Link>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}
