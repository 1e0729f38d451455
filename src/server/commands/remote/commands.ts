// The commands for a service elsewhere, loaded at once: as chunks of their own they would split those that a service loads at its start.
export { agentsCommand } from "./agents.ts";
export { chatCommand } from "./chat.ts";
export { deployCommand } from "./deploy/deploy.ts";
export { pullCommand } from "./deploy/pull.ts";
export { loginCommand, logoutCommand } from "./login.ts";
export { logsCommand } from "./logs.ts";
