// The errors of connecting a bot, for the API document. Other plugins that connect bots have them, too.

export const CONNECT_ERRORS = {
  400: "INVALID_CHANNEL_TOKEN",
  409: ["CHANNEL_IN_USE", "OPERATION_IN_PROGRESS"],
  429: ["CHANNEL_LIMIT_REACHED"],
  502: "CHANNEL_UNREACHABLE",
};
