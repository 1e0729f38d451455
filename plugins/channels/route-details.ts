// What the API documents of the web and the backend say of the routes that both have.
import { CHECK_DESCRIPTION, TOKEN_LIMIT_DESCRIPTION } from "./model.ts";

const tags = ["Channels"];

export const ROUTE_DETAILS = {
  list: {
    tags,
    summary: "List an agent's channels with their states",
    description:
      "For each connected channel: the bot, whether it is connected now, and the last error of a connection.",
  },
  get: {
    tags,
    summary: "Get one of an agent's channels with its state",
    description: "The bot, its connection, and the last error of a connection.",
  },
  connect: {
    tags,
    summary: "Connect a channel: the agent answers as this bot",
    description: TOKEN_LIMIT_DESCRIPTION,
  },
  disconnect: {
    tags,
    summary: "Disconnect a channel and forget its token",
    description: "The bot stops answering at once.",
  },
  check: {
    tags,
    summary: "Ask the platform which bot a token belongs to, without storing it",
    description: CHECK_DESCRIPTION,
  },
  retry: {
    tags,
    summary: "Try now to connect a bot that waits for its next try",
    description: "A bot whose connection failed is tried again with growing delays; this tries it without waiting.",
  },
};
