// One platform in the overview: what it is good for, or how its bot is doing.

import { Link } from "wouter";
import { ButtonLink } from "../../../parts/button.tsx";
import { type Text, t, text } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { ChannelIcon } from "./channel-icon.tsx";
import { ConnectionState } from "./connection-state.tsx";
import type { ChannelKind, Connection } from "./data.ts";

/** What a newcomer should know before choosing. */
const ABOUT: Readonly<Record<string, { time: Text; about: Text }>> = {
  channel_a: {
    time: text("About 2 minutes"),
    about: text("The easiest to start with: you need only the Telegram app."),
  },
  channel_b: {
    time: text("About 5 minutes"),
    about: text("Your agent joins your server, answers when it is mentioned, and takes direct messages."),
  },
  channel_c: {
    time: text("About 30 minutes"),
    about: text("For businesses: needs an account of Meta's WhatsApp platform and a phone number of its own."),
  },
  channel_d: {
    time: text("About 5 minutes"),
    about: text("Your agent joins your workspace, answers in threads when it is mentioned, and takes direct messages."),
  },
  channel_e: {
    time: text("About 5 minutes"),
    about: text("Your agent answers mails in their thread. It needs a mailbox of its own, with IMAP and SMTP."),
  },
};

export function ChannelCard({ kind, connection }: { kind: ChannelKind; connection: Connection | undefined }) {
  const { channel, label } = kind;
  const agent = useAgent();
  const href = `/agents/${agent.id}/channels/${channel}`;
  const known = ABOUT[channel];
  return (
    <section className="flex w-full flex-col gap-3 rounded-large border border-edge bg-card p-4">
      <header className="flex items-center gap-3">
        <ChannelIcon channel={channel} label={label} />
        <div className="min-w-0">
          <h2 className="font-semibold text-md">
            <Link href={href} className="hover:underline">
              {label}
            </Link>
          </h2>
          <p className="text-soft text-sm">{connection ? handleOf(connection) : known && t(known.time)}</p>
        </div>
      </header>
      <div className="flex-1">
        {connection ? (
          <ConnectionState connection={connection} />
        ) : (
          <p className="text-soft">{known ? t(known.about) : t("Your agent can answer here, too.")}</p>
        )}
      </div>
      <div>
        {connection ? (
          <ButtonLink href={href}>{t("People and settings")}</ButtonLink>
        ) : (
          <ButtonLink href={href} look={channel === "channel_a" ? "primary" : "quiet"}>
            {t("Connect {platform}", { platform: label })}
          </ButtonLink>
        )}
      </div>
    </section>
  );
}

/** Phone numbers have no @, and addresses have theirs. */
export const handleOf = ({ bot: { username } }: Pick<Connection, "bot">) =>
  username.startsWith("+") || username.includes("@") ? username : `@${username}`;
