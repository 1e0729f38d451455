// What an owner says in chat about who may talk: /pair, /approve CODE, /deny CODE.
import type { ChannelId } from "../../../channels/port.ts";
import type { OwnerCommandHandler } from "../../runtime/index.ts";
import { isChannelId } from "../adapters.ts";
import type { OpenConnections } from "../connections/open-connections.ts";
import type { MessageIntake } from "./message-intake.ts";
import type { Pairing, Pairings } from "./pairings.ts";

export const WELCOME_TEXT = "You can talk to me now.";

const MAX_LISTED = 20;

interface Deps {
  openConnections: Pick<OpenConnections, "find">;
  pairings: Pairings;
  intake: Pick<MessageIntake, "sendNoticeLater">;
}

/** On a channel it is about that channel; anywhere else the owner speaks, about all of them. */
export function createOwnerCommands({ openConnections, pairings, intake }: Deps): OwnerCommandHandler {
  const replyOnly = (reply: string) => ({ reply, statements: [] });

  async function welcome({ agentId, channel, peer }: Pairing): Promise<void> {
    const openConnection = await openConnections.find(agentId, channel);
    if (openConnection) intake.sendNoticeLater(openConnection, peer, WELCOME_TEXT);
  }

  async function list(agentId: string, channel: ChannelId | undefined) {
    const all = await pairings.listPending(agentId, channel);
    if (all.length === 0) return replyOnly("Nobody waits to be let in.");
    const shown = all.slice(0, MAX_LISTED).map(({ code, senderName }) => `${code} · ${plainName(senderName)}`);
    const more = all.length > MAX_LISTED ? [`and ${all.length - MAX_LISTED} more`] : [];
    return replyOnly(["They wait (anybody can take any name):", ...shown, ...more].join("\n"));
  }

  return async (name, { agentId, platform }, text) => {
    const channel = isChannelId(platform) ? platform : undefined;
    if (name === "pair") return list(agentId, channel);
    if (text === "") return replyOnly(`Which code? Say /${name} CODE; /pair shows who waits.`);
    const [found] = await pairings.listPending(agentId, channel, text);
    if (!found) return replyOnly("Nobody was told this code, or it is older than one hour.");
    const who = plainName(found.senderName);
    if (name === "deny") return { reply: `${who} is refused for a week.`, statements: [pairings.denyStatement(found)] };
    // Who is let in can talk, told of it or not.
    const statement = pairings.approveStatement(found, () => void welcome(found).catch(() => undefined));
    return { reply: `${who} can talk to me now.`, statements: [statement] };
  };
}

/** A stranger's name as it can stand in our text: one short line without marks. */
function plainName(name: string): string {
  const text = name
    .replace(/[^\p{L}\p{M}\p{N}\p{Zs}.'-]/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
  return [...text].slice(0, 40).join("").trim() || "Somebody";
}
