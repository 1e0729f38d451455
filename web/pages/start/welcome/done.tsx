// The end of the first run: what there is now, what was left out, and where to go.

import { BookOpen, Coins, type LucideIcon, MessageSquare, Settings2, Share2, Users } from "lucide-react";
import { Link } from "wouter";
import { ButtonLink } from "../../../parts/button.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { useUser } from "../../../session/session.tsx";
import { type Text, t, text } from "../../../viewer/language.ts";
import { StepPage } from "./frame.tsx";
import type { Setup, Step } from "./setup.ts";

interface Way {
  href: (agentId: string) => string;
  label: Text;
  hint: Text;
  Icon: LucideIcon;
  isForAdmins?: true;
  needsAgent?: true;
}

const WAYS: readonly Way[] = [
  {
    href: (id) => `/agents/${id}/chat`,
    needsAgent: true,
    label: text("Go on talking"),
    hint: text("The whole chat, with files, voice and every conversation."),
    Icon: MessageSquare,
  },
  {
    href: (id) => `/agents/${id}/set-up`,
    needsAgent: true,
    label: text("Say what it should do"),
    hint: text("Its instructions, in plain words; its model and its budget."),
    Icon: Settings2,
  },
  {
    href: (id) => `/agents/${id}/channels`,
    needsAgent: true,
    label: text("Let others talk to it"),
    hint: text("Discord, WhatsApp, a page for everybody, a chat on your website."),
    Icon: Share2,
  },
  {
    href: () => "/usage",
    label: text("See what it costs"),
    hint: text("By day, model and agent, with budgets that hold."),
    Icon: Coins,
  },
  {
    href: () => "/admin/users",
    label: text("Invite people"),
    hint: text("Each with a plan and agents of their own."),
    Icon: Users,
    isForAdmins: true,
  },
];

export function Done({ setup: { agent }, steps }: { setup: Setup; steps: readonly Step[] }) {
  const { isAdmin } = useUser();
  const left = steps.filter(({ status }) => status !== "done");
  const ways = WAYS.filter(
    ({ isForAdmins, needsAgent }) => (isAdmin || !isForAdmins) && (agent !== null || !needsAgent),
  );
  return (
    <StepPage
      title={left.length === 0 ? t("Moored. You are all set") : t("That's it for now")}
      intro={
        agent
          ? t("{name} is ready for you. Here is where people usually go next.", { name: agent.name })
          : t("Come back whenever you like: the tour goes on where you left it.")
      }
    >
      <ul className="grid gap-3 sm:grid-cols-2">
        {ways.map(({ href, label, hint, Icon }) => (
          <li key={label}>
            <Link
              href={href(agent?.id ?? "")}
              className="flex h-full gap-3 rounded-large border border-edge bg-card p-4 transition-colors hover:bg-hover"
            >
              <Icon className="mt-0.5 size-5 shrink-0 text-sea" aria-hidden="true" />
              <span>
                <span className="block font-semibold">{t(label)}</span>
                <span className="text-soft text-sm">{t(hint)}</span>
              </span>
            </Link>
          </li>
        ))}
        <li>
          <a
            href="/swagger"
            className="flex h-full gap-3 rounded-large border border-edge bg-card p-4 transition-colors hover:bg-hover"
          >
            <BookOpen className="mt-0.5 size-5 shrink-0 text-sea" aria-hidden="true" />
            <span>
              <span className="block font-semibold">{t("Use it from your own program")}</span>
              <span className="text-soft text-sm">{t("Everything here is an API, too.")}</span>
            </span>
          </a>
        </li>
      </ul>
      {left.length > 0 && (
        <Section title={t("Left out until later")}>
          <ul className="flex flex-col gap-2">
            {left.map(({ id, label }) => (
              <li key={id} className="flex items-center justify-between gap-3">
                {t(label)}
                <ButtonLink href={`/welcome?step=${id}`}>{t("Do it now")}</ButtonLink>
              </li>
            ))}
          </ul>
        </Section>
      )}
      <div>
        <ButtonLink href="/" look="primary">
          {t("To your agents")}
        </ButtonLink>
      </div>
    </StepPage>
  );
}
