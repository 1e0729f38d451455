// How the person who set up a bot meets it: a link that tells the bot who they are. Later, the link to pass on.

import { ExternalLink } from "lucide-react";
import { useEffect, useRef } from "react";
import { type OwnerLink, useOwnerLink } from "../../../data/owner-link.ts";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { OutsideButton } from "../../../parts/outside-link.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { showToast } from "../../../parts/toast.tsx";
import { CopyValue } from "../../../parts/values/copy-value.tsx";
import { QrCode } from "../../../parts/values/qr-code.tsx";
import { Status } from "../../../parts/values/status.tsx";
import { rich, t } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";
import { handleOf } from "./channel-card.tsx";
import type { ChannelKind, Connection } from "./data.ts";

interface Props {
  kind: ChannelKind;
  connection: Connection;
}

export function FirstWords(props: Props) {
  const { ownerId } = props.connection;
  const wasUnknown = useRef(ownerId === null);
  useEffect(() => {
    if (wasUnknown.current && ownerId !== null) showToast(t("Your agent knows you now. Write to it!"));
    wasUnknown.current = ownerId === null;
  }, [ownerId]);
  return ownerId === null ? <MeetTheBot {...props} /> : <PassItOn {...props} />;
}

function MeetTheBot({ kind, connection }: Props) {
  const agent = useAgent();
  const { data, error, refetch } = useOwnerLink(agent.id, kind.channel);
  return (
    <Section title={t("Last step: say hello")} hint={t("So your agent knows who it belongs to.")}>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!error && !data && <Skeleton className="h-44" />}
      {data && (
        /* On a phone the button comes first, since a phone can't scan itself. */
        <div className="flex flex-col-reverse items-start gap-6 sm:flex-row">
          {data.link && <QrCode value={data.link} label={t("The address of the bot, for your phone")} size={176} />}
          <div className="flex min-w-0 flex-1 flex-col items-start gap-3">
            <p className="max-w-prose">{whatToDo(kind, data)}</p>
            {data.link && (
              <OutsideButton href={data.link}>
                <ExternalLink aria-hidden="true" />
                {kind.link === "chat"
                  ? t("Open {bot} in {platform}", { bot: handleOf(connection), platform: kind.label })
                  : t("Add {bot} to your server", { bot: handleOf(connection) })}
              </OutsideButton>
            )}
            {!data.sendsCode && <CopyValue value={data.code} label={t("Copy the code")} />}
            <Status tone="busy">{t("This page notices when you are there")}</Status>
            <p className="max-w-prose text-soft text-sm">
              {t("The code works once, for a quarter of an hour. Who uses it becomes the owner, so don't pass it on.")}
            </p>
          </div>
        </div>
      )}
    </Section>
  );
}

function whatToDo({ link, label }: ChannelKind, { sendsCode }: OwnerLink) {
  const strong = (words: string, key: string) => <strong key={key}>{words}</strong>;
  if (link === "invite") {
    return rich(
      "Add the bot to your server, then open its profile there and send it this code as a <b>direct message</b>:",
      {
        b: strong,
      },
    );
  }
  return sendsCode
    ? rich(
        "Scan this with your phone, or press the button. In {platform}, press <b>Start</b> or <b>Send</b>. That is all.",
        { b: strong },
        { platform: label },
      )
    : rich("Write this code to the bot in a <b>private chat</b>:", { b: strong });
}

function PassItOn({ kind, connection }: Props) {
  const { link } = connection;
  if (!link) return null;
  return (
    <Section title={kind.link === "chat" ? t("Write to it now") : t("Add it to a server")}>
      <div className="flex flex-col-reverse items-start gap-6 sm:flex-row">
        <QrCode value={link} label={t("The address of the bot, for your phone")} size={132} />
        <div className="flex min-w-0 flex-1 flex-col items-start gap-3">
          <OutsideButton href={link}>
            <ExternalLink aria-hidden="true" />
            {kind.link === "chat"
              ? t("Open {bot} in {platform}", { bot: handleOf(connection), platform: kind.label })
              : t("Add {bot} to your server", { bot: handleOf(connection) })}
          </OutsideButton>
          <CopyValue value={link} label={t("Copy the address")} />
          <p className="max-w-prose text-soft text-sm">
            {t("Anybody can have this address. Who gets an answer is decided below.")}
          </p>
        </div>
      </div>
    </Section>
  );
}
