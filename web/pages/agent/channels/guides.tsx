// The steps on each platform until a person holds a bot's token, in words for those who never did this.

import type { ReactNode } from "react";
import { lazyPart } from "../../../parts/lazy.tsx";
import { OutsideLink } from "../../../parts/outside-link.tsx";
import { CopyButton } from "../../../parts/values/copy-button.tsx";
import { rich, type Text, t, text } from "../../../viewer/language.ts";
import type { ChannelKind } from "./data.ts";

/** Only for platforms without a guide here, since it brings the parser. */
const Markdown = lazyPart(async () => ({ default: (await import("../../../parts/text/markdown.tsx")).Markdown }));

const link = (href: string) => (words: string, key: string) => (
  <OutsideLink key={key} href={href}>
    {words}
  </OutsideLink>
);
const strong = (words: string, key: string) => <strong key={key}>{words}</strong>;

/** A word to type on the platform, with a button that copies it. */
const word = (words: string, key: string) => (
  <span
    key={key}
    className="inline-flex items-center gap-1 overflow-hidden rounded-round border border-edge bg-well pl-1.5 font-mono text-sm"
  >
    {words}
    <CopyButton value={words} label={t("Copy {words}", { words })} />
  </span>
);

const GUIDES: Readonly<Record<string, (kind: ChannelKind) => ReactNode[]>> = {
  channel_a: () => [
    rich("Open <a>BotFather</a>. That is Telegram's own helper for making bots.", {
      a: link("https://t.me/BotFather"),
    }),
    rich(
      "Write <w>/newbot</w> to it. It asks for a name, and for a user name that ends in “bot”: you may choose both.",
      {
        w: word,
      },
    ),
    t("It answers with a long token. Copy it, and paste it below."),
  ],
  channel_b: () => [
    rich("Open Discord's <a>developer page</a>, press <b>New Application</b> and give your bot a name.", {
      a: link("https://discord.com/developers/applications"),
      b: strong,
    }),
    rich("Choose <b>Bot</b> at the left, press <b>Reset Token</b> and confirm. Copy the token, and paste it below.", {
      b: strong,
    }),
    rich(
      "Only if your agent is to read every message of a channel: switch on <b>Message Content Intent</b> on the same page. It hears mentions, answers and direct messages without that.",
      { b: strong },
    ),
  ],
  channel_c: ({ appWebhook }) => [
    rich(
      "Make an app on <a>Meta's developer page</a>, add the product <b>WhatsApp</b>, and register a phone number there.",
      {
        a: link("https://developers.facebook.com/apps"),
        b: strong,
      },
    ),
    rich(
      "In the <a>business settings</a>, under <b>Users → System users</b>, add a system user. Assign it the app, and one WhatsApp account with full control.",
      { a: link("https://business.facebook.com/settings/system-users"), b: strong },
    ),
    rich(
      "Press <b>Generate token</b> for that app, without an end, with <w>whatsapp_business_messaging</w> and <w>whatsapp_business_management</w>.",
      { b: strong, w: word },
    ),
    rich(
      "In the app, under <b>WhatsApp → Configuration</b>, enter the callback URL <w>{url}</w> with the verify token <w>{token}</w>, and press <b>Verify and save</b>.",
      { b: strong, w: word },
      { url: appWebhook?.url ?? "", token: appWebhook?.verifyToken ?? "" },
    ),
    rich("Below it, subscribe to the field <b>messages</b>. Then paste the token here.", { b: strong }),
  ],
  channel_d: ({ guide: { manifest = "" } }) => [
    rich(
      "Open <a>Slack's form for a new app</a>, which is filled in already. Choose your workspace, and press <b>Next</b> and <b>Create</b>.",
      {
        a: link(`https://api.slack.com/apps?${new URLSearchParams({ new_app: "1", manifest_json: manifest })}`),
        b: strong,
      },
    ),
    <>
      {rich("If the form is empty, choose <b>From a manifest</b> and paste this there:", { b: strong })}{" "}
      <CopyButton value={manifest} label={t("Copy the manifest")} />
    </>,
    rich(
      "Choose <b>Install App</b> at the left, and allow it. Copy the <b>Bot User OAuth Token</b>, and paste it below.",
      { b: strong },
    ),
    rich(
      "Choose <b>Basic Information</b>, and at <b>App-Level Tokens</b> press <b>Generate Token and Scopes</b>. Add <w>connections:write</w>, and paste that token, too.",
      { b: strong, w: word },
    ),
  ],
  channel_e: () => [
    t("Make a mailbox for the agent alone at your mail provider. Mails that lie in it already are not answered."),
    t("Look up the names of its IMAP and SMTP servers, and make a password for programs if the provider has such."),
    rich(
      "To command the agent by mail, open the source of a mail that has arrived there, and find <w>Authentication-Results</w>: the name behind it is the server that checks senders.",
      { w: word },
    ),
  ],
};

export function Guide({ kind }: { kind: ChannelKind }) {
  const steps = GUIDES[kind.channel]?.(kind);
  if (!steps) {
    return <Markdown text={kind.guide.token} />;
  }
  return (
    <ol className="flex flex-col gap-3">
      {steps.map((step, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the steps of a guide never change their places
        <li key={index} className="flex gap-3">
          <span
            aria-hidden="true"
            className="grid size-6 shrink-0 place-items-center rounded-full bg-wash font-semibold text-sea text-sm"
          >
            {index + 1}
          </span>
          <p className="max-w-prose pt-0.5">{step}</p>
        </li>
      ))}
    </ol>
  );
}

interface IdTexts {
  /** What the id of a person looks like, and who tells it. */
  hint: Text;
  example: string;
}

const PERSON_IDS: Readonly<Record<string, IdTexts>> = {
  channel_a: { hint: text("A number. In Telegram, @userinfobot tells everybody theirs."), example: "123456789" },
  channel_b: {
    hint: text(
      "A long number. In Discord: Settings, Advanced, Developer Mode; then right-click a person, Copy User ID.",
    ),
    example: "80351110224678912",
  },
  channel_c: { hint: text("The phone number with its country code."), example: "+43 660 1234567" },
  channel_d: {
    hint: text("In Slack: a person's profile, the button with three dots, Copy member ID."),
    example: "U012AB3CDE4",
  },
  channel_e: {
    hint: text("Their email address. It counts for mails whose sender your mail server has checked."),
    example: "ada@example.com",
  },
};

export const personIdTexts = (channel: string): IdTexts | undefined => PERSON_IDS[channel];
