// What a line of an agent's log is about: ids and names, of which the console makes links.
import { type Static, t } from "elysia";
import { integer } from "../../../src/kernel/http/body/response-types.ts";

export const logLinks = t.Object(
  {
    turn: t.Optional(t.String()),
    schedule: t.Optional(t.String()),
    approval: t.Optional(t.String()),
    file: t.Optional(t.String()),
    channel: t.Optional(t.String()),
    server: t.Optional(t.String({ description: "The name of an MCP server" })),
    skill: t.Optional(t.String()),
    version: t.Optional(integer({ description: "Of the configuration" })),
  },
  { title: "LogLinks", description: "What the line is about, by id" },
);

export type LogLinks = Static<typeof logLinks>;
