// Carries out the commands by which an owner decides in chat who may talk: /pair, /approve CODE, /deny CODE.
import type { ChannelId } from "../../../channels/port.ts";
import { isChannelId } from "../../../channels/registry.ts";
import { pageText, translateText } from "../../../src/kernel/pages/page-template.ts";
import { plainName } from "../../../src/kernel/util/text/quoted-text.ts";
import type { Language, OwnerCommandHandler, ReaderLanguage } from "../../runtime/index.ts";
import type { OpenConnections } from "../connections/open-connections.ts";
import type { OwnerNotices } from "../connections/owner-notices.ts";
import type { MessageIntake } from "./message-intake.ts";
import type { Pairing, Pairings } from "./pairings.ts";

export const WELCOME_TEXT = pageText("You can talk to me now.");
export const OWNER_WELCOME_TEXT = pageText("You are my owner here now. /help shows what you can do.");

const MAX_LISTED = 20;

interface Deps {
  openConnections: Pick<OpenConnections, "find">;
  pairings: Pairings;
  intake: Pick<MessageIntake, "sendNoticeLater">;
  reportPairing: OwnerNotices["reportPairing"];
  readerLanguage: ReaderLanguage;
}

/** On a channel the commands concern that channel; on the web and the API, all of them. */
export function createOwnerCommands({
  openConnections,
  pairings,
  intake,
  reportPairing,
  readerLanguage,
}: Deps): OwnerCommandHandler {
  const replyOnly = (reply: string) => ({ reply, statements: [] });

  async function welcome({ agentId, channel, peer, language: given }: Pairing): Promise<void> {
    const openConnection = await openConnections.find(agentId, channel);
    if (!openConnection) return;
    const language = await readerLanguage(agentId, given);
    intake.sendNoticeLater(openConnection, peer, translateText(WELCOME_TEXT, language));
  }

  const report = ({ agentId, channel, senderId, senderName: name }: Pairing, status: "approved" | "denied") =>
    reportPairing({ agentId, channel, senderId, name, status });

  async function list(agentId: string, channel: ChannelId | undefined, language: Language) {
    const all = await pairings.listPending(agentId, channel);
    if (all.length === 0) return replyOnly(translateText("No one is waiting for access.", language));
    const shown = all.slice(0, MAX_LISTED).map(({ code, senderName }) => `${code} · ${plainName(senderName)}`);
    const more =
      all.length > MAX_LISTED ? [translateText("and {n} more", language, { n: String(all.length - MAX_LISTED) })] : [];
    return replyOnly(
      [translateText("Waiting for access (a name can be made up):", language), ...shown, ...more].join("\n"),
    );
  }

  return async (name, { agentId, platform }, text, language) => {
    const channel = isChannelId(platform) ? platform : undefined;
    if (name === "pair") return list(agentId, channel, language);
    if (text === "")
      return replyOnly(
        translateText(
          "Which code? My questions have buttons, or show the code. /pair lists the codes of people who wait.",
          language,
        ),
      );
    const [found] = await pairings.listPending(agentId, channel, text);
    if (!found)
      return replyOnly(
        translateText(
          "This code is unknown. A person's code is good for one hour, that of a question of mine for a day. /pair lists the people who wait.",
          language,
        ),
      );
    const who = plainName(found.senderName);
    if (name === "deny")
      return {
        reply: translateText("{who} is refused for a week.", language, { who }),
        statements: [pairings.denyStatement(found, () => report(found, "denied"))],
      };
    // The approval holds also if the welcome can't be sent.
    const statement = pairings.approveStatement(found, () => {
      report(found, "approved");
      welcome(found).catch(() => undefined);
    });
    return { reply: translateText("{who} can talk to me now.", language, { who }), statements: [statement] };
  };
}
