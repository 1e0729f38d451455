// What an owner says in chat about who may talk: /pair, /approve CODE, /deny CODE.
import type { ChannelId } from "../../channels/channel.ts";
import type { Obey } from "../runtime/index.ts";
import { isChannelId } from "./adapters.ts";
import type { Intake } from "./intake.ts";
import type { Lines } from "./lines.ts";
import type { Pairing, Pairings } from "./pairings.ts";

export const WELCOME = "You can talk to me now.";

const SHOWN = 20;

interface Deps {
  lines: Pick<Lines, "of">;
  pairings: Pairings;
  intake: Pick<Intake, "sayLater">;
}

/** On a channel it is about that channel; anywhere else the owner speaks, about all of them. */
export function createOwnerCommands({ lines, pairings, intake }: Deps): Obey {
  const say = (reply: string) => ({ reply, statements: [] });

  async function welcome({ agentId, channel, peer }: Pairing): Promise<void> {
    const line = await lines.of(agentId, channel);
    if (line) intake.sayLater(line, peer, WELCOME);
  }

  async function list(agentId: string, channel: ChannelId | undefined) {
    const all = await pairings.waiting(agentId, channel);
    if (all.length === 0) return say("Nobody waits to be let in.");
    const shown = all.slice(0, SHOWN).map(({ code, senderName }) => `${code} · ${plain(senderName)}`);
    const more = all.length > SHOWN ? [`and ${all.length - SHOWN} more`] : [];
    return say(["They wait (anybody can take any name):", ...shown, ...more].join("\n"));
  }

  return async (name, { agentId, platform }, text) => {
    const channel = isChannelId(platform) ? platform : undefined;
    if (name === "pair") return list(agentId, channel);
    if (text === "") return say(`Which code? Say /${name} CODE; /pair shows who waits.`);
    const [found] = await pairings.waiting(agentId, channel, text);
    if (!found) return say("Nobody was told this code, or it is older than one hour.");
    const who = plain(found.senderName);
    if (name === "deny") return { reply: `${who} is refused for a week.`, statements: [pairings.denying(found)] };
    // Who is let in can talk, told of it or not.
    const statement = pairings.approving(found, () => void welcome(found).catch(() => undefined));
    return { reply: `${who} can talk to me now.`, statements: [statement] };
  };
}

/** A stranger's name as it can stand in our text: one short line without marks. */
function plain(name: string): string {
  const text = name
    .replace(/[^\p{L}\p{M}\p{N}\p{Zs}.'-]/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
  return [...text].slice(0, 40).join("").trim() || "Somebody";
}
