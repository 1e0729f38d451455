// The last step: the agent answers in Telegram. Three things to do there, the token here, and who the owner is.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "wouter";
import { api, path } from "../../../api/api.ts";
import { useLive } from "../../../api/events.ts";
import { useOwnerLink } from "../../../data/owner-link.ts";
import { Button, ButtonLink } from "../../../parts/button.tsx";
import { ErrorNote, messageOf } from "../../../parts/error-note.tsx";
import { lazyPart } from "../../../parts/lazy.tsx";
import { OutsideLink } from "../../../parts/outside-link.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { showError } from "../../../parts/toast.tsx";
import { QrCode } from "../../../parts/values/qr-code.tsx";
import { Notice, Status } from "../../../parts/values/status.tsx";
import { loadTexts, rich, t } from "../../../viewer/language.ts";
import { StepPage } from "./frame.tsx";

interface Connected {
  channel: string;
  bot: { username: string };
  link: string | null;
  ownerId: string | null;
}

interface Pairing {
  senderId: string;
  name: string | null;
  status: string;
}

interface Props {
  agent: { id: string; name: string };
  onDone: () => void;
  onSkip: () => void;
}

/** Telegram's id in the API. */
const CHANNEL = "channel_a";
const TELEGRAM = { channel: CHANNEL, label: "Telegram", credentials: null };

/** The one of the agent's page of channels, which judges the token while it is typed. */
const TokenForm = lazyPart(
  async () => {
    const [form] = await Promise.all([import("../../agent/channels/token-form.tsx"), loadTexts("agent")]);
    return { default: form.TokenForm };
  },
  () => <Skeleton className="h-36" />,
);

export function ChannelStep({ agent, onDone, onSkip }: Props) {
  const key = ["agent", agent.id, "channels"] as const;
  const { data, error, refetch } = useQuery({
    queryKey: key,
    queryFn: () => api.get<{ channels: Connected[] }>(path`/api/agents/${agent.id}/channels`),
  });
  useLive(key, ["channel."]);
  const telegram = data?.channels.find(({ channel }) => channel === CHANNEL);
  const others = data?.channels.filter(({ channel }) => channel !== CHANNEL) ?? [];
  return (
    <StepPage
      title={t("Let {name} answer in Telegram", { name: agent.name })}
      intro={t("It takes a minute, and works on your phone at once.")}
      onSkip={telegram || others.length > 0 ? undefined : onSkip}
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-72" />}
      {data && !telegram && <Connect agentId={agent.id} />}
      {telegram && <Meet agent={agent} connected={telegram} onDone={onDone} />}
      <p className="text-soft">
        {rich("Rather Discord or WhatsApp? They are under <a>Channels</a>.", {
          a: (words, name) => (
            <Link key={name} href={`/agents/${agent.id}/channels`} className="text-sea underline">
              {words}
            </Link>
          ),
        })}
      </p>
    </StepPage>
  );
}

function Connect({ agentId }: { agentId: string }) {
  const botFather = (words: string, key: string) => (
    <OutsideLink key={key} href="https://t.me/BotFather">
      {words}
    </OutsideLink>
  );
  const code = (words: string, key: string) => (
    <code key={key} className="rounded-round bg-well px-1 font-mono">
      {words}
    </code>
  );
  return (
    <Section title={t("Make a bot there, connect it here")}>
      <div className="flex flex-col gap-4">
        <ol className="flex list-decimal flex-col gap-2 pl-5">
          <li>{rich("Open <a>@BotFather</a> in Telegram. It makes bots, and is Telegram's own.", { a: botFather })}</li>
          <li>{rich("Send it <c>/newbot</c>, then a name, then a user name that ends in “bot”.", { c: code })}</li>
          <li>{rich("It answers with a token such as <c>123456:AAF…</c>. Paste it here.", { c: code })}</li>
        </ol>
        <TokenForm agentId={agentId} kind={TELEGRAM} />
      </div>
    </Section>
  );
}

/** The bot is there. Whoever writes to it without the link is asked to be confirmed here. */
function Meet({ agent, connected, onDone }: { agent: Props["agent"]; connected: Connected; onDone: () => void }) {
  const { bot, ownerId } = connected;
  const { data: ownerLink } = useOwnerLink(agent.id, CHANNEL, ownerId === null);
  // Who opens the chat by the link is known to be the owner; the plain address does until it is there.
  const link = ownerId === null ? (ownerLink?.link ?? connected.link) : connected.link;
  const waiting = useWaiting(agent.id, ownerId === null);
  return (
    <Section title={`@${bot.username}`} actions={<Status tone="good">{t("connected")}</Status>}>
      <div className="flex flex-wrap items-start gap-5">
        {link && (
          <QrCode value={link} label={t("QR code of {address}", { address: connected.link ?? link })} size={132} />
        )}
        <div className="flex min-w-0 flex-1 basis-64 flex-col items-start gap-3">
          {ownerId !== null ? (
            <p>{t("{name} knows you, and answers you in Telegram.", { name: agent.name })}</p>
          ) : (
            <p>
              {rich(
                "Point your phone's camera at the code, or open the chat, and press <b>Start</b> there. That is all: your agent knows you then.",
                { b: (words, key) => <strong key={key}>{words}</strong> },
              )}
            </p>
          )}
          {link && (
            <p>
              <OutsideLink href={link}>{t("Open the chat with @{bot}", { bot: bot.username })}</OutsideLink>
            </p>
          )}
          <div role="status" className="flex w-full flex-col gap-2">
            {ownerId === null && waiting.people.length === 0 && (
              <Status tone="busy">{t("This page notices when you are there")}</Status>
            )}
            {ownerId === null &&
              waiting.people.map((person) => (
                <Notice key={person.senderId}>
                  <p>{t("{name} wrote to the bot. Is that you?", { name: person.name || person.senderId })}</p>
                  <Button look="primary" isBusy={waiting.isBusy} onClick={() => waiting.confirm(person)}>
                    {t("Yes, that's me")}
                  </Button>
                </Notice>
              ))}
          </div>
          <div className="flex flex-wrap gap-2">
            <Button look={ownerId === null ? "quiet" : "primary"} onClick={onDone}>
              {ownerId === null ? t("Do that later") : t("Go on")}
            </Button>
            <ButtonLink href={`/agents/${agent.id}/channels`}>{t("Who else may talk?")}</ButtonLink>
          </div>
        </div>
      </div>
    </Section>
  );
}

/** People who wrote to the bot and are not known yet. */
function useWaiting(agentId: string, isActive: boolean) {
  const client = useQueryClient();
  const key = ["agent", agentId, "channels", CHANNEL, "pairings"] as const;
  const { data } = useQuery({
    queryKey: key,
    queryFn: () =>
      api.get<{ pairings: Pairing[] }>(path`/api/agents/${agentId}/channels/${CHANNEL}/pairings`, { limit: 20 }),
    enabled: isActive,
  });
  useLive(key, ["channel.pairing"]);
  const approve = useMutation({
    mutationFn: ({ senderId, name }: Pairing) =>
      api.put(path`/api/agents/${agentId}/channels/${CHANNEL}/pairings/${senderId}`, {
        status: "approved",
        owner: true,
        ...(name && { name }),
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["agent", agentId, "channels"] }),
    onError: (error) => showError(messageOf(error)),
  });
  return {
    people: (data?.pairings ?? []).filter(({ status }) => status === "pending"),
    confirm: approve.mutate,
    isBusy: approve.isPending,
  };
}
