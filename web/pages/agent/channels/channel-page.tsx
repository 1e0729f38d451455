// The page of one platform: the way to a bot, or the bot with its people.

import { ChevronLeft } from "lucide-react";
import { Link } from "wouter";
import { Section } from "../../../parts/page/page.tsx";
import { Notice } from "../../../parts/values/status.tsx";
import { t } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { handleOf } from "./channel-card.tsx";
import { ChannelIcon } from "./channel-icon.tsx";
import { ConnectionState } from "./connection-state.tsx";
import type { ChannelKind, Connection } from "./data.ts";
import { DisconnectButton } from "./disconnect-button.tsx";
import { FirstWords } from "./first-words.tsx";
import { Guide } from "./guides.tsx";
import { PeopleSection } from "./people-section.tsx";
import { RulesSection } from "./rules-section.tsx";
import { TokenForm } from "./token-form.tsx";

interface Props {
  kind: ChannelKind;
  connection: Connection | undefined;
}

export function ChannelPage({ kind, connection }: Props) {
  const agent = useAgent();
  return (
    <>
      <Link
        href={`/agents/${agent.id}/channels`}
        className="mb-3 inline-flex items-center gap-1 text-sea hover:underline"
      >
        <ChevronLeft aria-hidden="true" className="size-4" />
        {t("All channels")}
      </Link>
      {connection ? <Connected kind={kind} connection={connection} /> : <Connecting kind={kind} />}
    </>
  );
}

function Connecting({ kind }: { kind: ChannelKind }) {
  const agent = useAgent();
  return (
    <Section
      title={t("Connect {platform}", { platform: kind.label })}
      hint={t("You need no server and no programming.")}
    >
      <div className="flex flex-col gap-5">
        {kind.needsHttps && (
          <Notice tone="warn">
            {t(
              "{platform} sends messages only to public https addresses, and this Berth has none. Ask its operator to set BASE_URL; until then this bot can't hear anybody.",
              { platform: kind.label },
            )}
          </Notice>
        )}
        <Guide kind={kind} />
        <TokenForm agentId={agent.id} kind={kind} />
      </div>
    </Section>
  );
}

function Connected({ kind, connection }: { kind: ChannelKind; connection: Connection }) {
  const agent = useAgent();
  const mustReplace = connection.state === "failed";
  return (
    <>
      <section className="mb-5 flex items-start gap-4 rounded-large border border-edge bg-card p-4">
        <ChannelIcon channel={kind.channel} label={kind.label} />
        <div className="min-w-0 flex-1">
          <h2 className="font-semibold text-md">
            {kind.label} <span className="font-normal text-soft">{handleOf(connection)}</span>
          </h2>
          <ConnectionState connection={connection} />
        </div>
      </section>
      {mustReplace && (
        <Section title={t("A new token")}>
          <div className="flex flex-col gap-5">
            <Guide kind={kind} />
            <TokenForm agentId={agent.id} kind={kind} />
          </div>
        </Section>
      )}
      {!mustReplace && connection.problem !== "agent_stopped" && <FirstWords kind={kind} connection={connection} />}
      <PeopleSection kind={kind} connection={connection} />
      <RulesSection kind={kind} />
      {!mustReplace && (
        <details className="mb-5 rounded-large border border-edge bg-card">
          <summary className="px-4 py-2.5 font-semibold text-md">{t("Use another token")}</summary>
          <div className="border-edge border-t p-4">
            <TokenForm agentId={agent.id} kind={kind} />
          </div>
        </details>
      )}
      <Section
        title={t("Disconnect")}
        hint={t("The bot stops answering, and its token is forgotten. Conversations stay.")}
      >
        <DisconnectButton connection={connection} />
      </Section>
    </>
  );
}
