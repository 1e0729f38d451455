// Takes over openclaw.json (docs.openclaw.ai/gateway/configuration-reference): allow lists, model, name and time zone.
import { isTimeZone } from "../../../../src/kernel/util/time-zone.ts";
import type { Draft } from "../draft.ts";
import { listAt, namesAt, textAt, valueAt } from "../json-values.ts";
import { modelNamed } from "../model-names.ts";

const CHANNELS: Readonly<Record<string, string>> = {
  telegram: "channel_a",
  discord: "channel_b",
  whatsapp: "channel_c",
};
/** Parts of the file that hold settings of the machine, or secrets. */
const SECRET_PARTS = ["auth", "env", "secrets", "hooks"];
const TAKEN_PARTS = ["channels", "agents", "agent", "identity", "meta", "wizard", "$schema"];

export function takeOverConfiguration(draft: Draft, text: string): void {
  const { report } = draft;
  const config = parseJson5(text);
  if (config === undefined) return void report.left("openclaw.json", "UNREADABLE");
  const [agent] = listAt(config, "agents", "list");
  const name =
    textAt(agent, "identity", "name") ??
    textAt(config, "identity", "name") ??
    textAt(config, "ui", "assistant", "name");
  if (name !== undefined) draft.setName("openclaw.json: identity.name", name);
  takeOverChannels(draft, config);

  const model = [agent, valueAt(config, "agents", "defaults"), valueAt(config, "agent")]
    .map((part) => textAt(part, "model", "primary") ?? textAt(part, "model"))
    .find((found) => found !== undefined);
  const known = model === undefined ? undefined : modelNamed(model);
  if (known !== undefined) draft.set("openclaw.json: model", "model", known);
  else if (model !== undefined) report.left(`openclaw.json: model ${model}`, "UNKNOWN_MODEL");
  const zone = textAt(config, "agents", "defaults", "userTimezone") ?? textAt(config, "agent", "userTimezone");
  if (zone !== undefined && isTimeZone(zone)) draft.set("openclaw.json: userTimezone", "timezone", zone);

  for (const part of namesAt(config).slice(0, 50)) {
    if (SECRET_PARTS.includes(part)) report.left(`openclaw.json: ${part}`, "SECRETS");
    else if (part === "plugins") report.left("openclaw.json: plugins", "PLUGINS");
    else if (part === "mcp" || part === "mcpServers") report.left(`openclaw.json: ${part}`, "MCP_SERVERS");
    else if (!TAKEN_PARTS.includes(part)) report.left(`openclaw.json: ${part}`, "NO_EQUIVALENT");
  }
}

function takeOverChannels(draft: Draft, config: unknown): void {
  for (const name of namesAt(config, "channels").slice(0, 50)) {
    const source = `openclaw.json: channels.${name}`;
    const channel = CHANNELS[name];
    if (channel === undefined) {
      if (name !== "defaults" && name !== "modelByChannel") draft.report.left(source, "NO_EQUIVALENT");
      continue;
    }
    draft.report.left(source, "CONNECT_ANEW");
    const listed = ["allowFrom", "dm.allowFrom"].flatMap((path) =>
      listAt(config, "channels", name, ...path.split(".")),
    );
    const people = [...new Set(listed.map(String))].filter((one) => one !== "*");
    const ids = people.flatMap((one) => platformId(one, name) ?? []);
    draft.allow(`${source}.allowFrom`, channel, ids);
    if (ids.length < people.length) draft.report.left(`${source}.allowFrom`, "NOT_AN_ID", people.length - ids.length);
  }
}

/** The id on the platform: a number, or for WhatsApp a phone number's digits. */
function platformId(given: string, platform: string): string | undefined {
  const id = given.replace(/^(?:tg|telegram|discord|user|whatsapp):/i, "").trim();
  const digits = platform === "whatsapp" ? id.replace(/[\s()+-]/g, "") : id;
  return /^-?\d{1,30}$/.test(digits) ? digits : undefined;
}

/** JSON with comments and final commas, as OpenClaw writes it; undefined for anything else. */
function parseJson5(text: string): unknown {
  try {
    const value: unknown = Bun.JSON5.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
