// Makes the card by which agents of other hosts find an agent: one document for the protocol's versions 1.0 and 0.3.
import { t } from "elysia";
import { version } from "../../../package.json";

export interface CardFacts {
  name: string;
  greeting: string;
  /** The public address, which takes the messages too. */
  url: string;
}

const TEXT = ["text/plain"];
/** Texts and data, and files that are text. */
const INPUT = [...TEXT, "text/markdown", "text/csv", "application/json"];
export const PROTOCOL_VERSIONS = ["1.0", "0.3"] as const;

export function agentCard({ name, greeting, url }: CardFacts) {
  const skill = {
    id: "talk",
    name: "Talk",
    description: greeting || `Answers messages of people and agents as ${name}.`,
    tags: ["chat"],
    examples: [],
    inputModes: INPUT,
    outputModes: TEXT,
  };
  return {
    name,
    description: greeting || `${name}, an agent on Berth.`,
    version,
    supportedInterfaces: PROTOCOL_VERSIONS.map((protocolVersion) => ({
      url,
      protocolBinding: "JSONRPC",
      protocolVersion,
    })),
    capabilities: { streaming: true, pushNotifications: false },
    defaultInputModes: INPUT,
    defaultOutputModes: TEXT,
    skills: [skill],
    // Of version 0.3, whose clients don't look at `supportedInterfaces`.
    url,
    protocolVersion: "0.3.0",
    preferredTransport: "JSONRPC",
  };
}

const texts = t.Array(t.String());
export const cardSchema = t.Object({
  name: t.String(),
  description: t.String(),
  version: t.String(),
  supportedInterfaces: t.Array(t.Object({ url: t.String(), protocolBinding: t.String(), protocolVersion: t.String() })),
  capabilities: t.Object({ streaming: t.Boolean(), pushNotifications: t.Boolean() }),
  defaultInputModes: texts,
  defaultOutputModes: texts,
  skills: t.Array(
    t.Object({
      id: t.String(),
      name: t.String(),
      description: t.String(),
      tags: texts,
      examples: texts,
      inputModes: texts,
      outputModes: texts,
    }),
  ),
  url: t.String(),
  protocolVersion: t.String(),
  preferredTransport: t.String(),
});
