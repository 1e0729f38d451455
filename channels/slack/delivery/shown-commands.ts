// Shows commands as people can write them on Slack, which keeps texts that begin with / for its own commands: `!help`.

/** Commands of owners, and other names, which the menus of platforms do not show. */
const FURTHER_COMMANDS = ["pair", "approve", "deny", "new"];

/** Returns the function that replaces `/help` by `!help` in a text, for the commands there are. */
export function createShownCommands(commands: Readonly<Record<string, string>>): (text: string) => string {
  const names = [...Object.keys(commands), ...FURTHER_COMMANDS].filter((name) => /^\w+$/.test(name));
  const pattern = new RegExp(`(?<![\\w/.:<])/(?=(?:${names.join("|")})(?![\\w/.-]))`, "g");
  return (text) => text.replace(pattern, "!");
}
