// The tools of the built-in skills in words. Tools from elsewhere, such as MCP servers, have only their names.

import { type Text, t, text } from "../viewer/language.ts";

interface ToolWords {
  /** What it does, in a few words. */
  label: Text;
  /** A sentence for the owner; the tool's own description speaks to the model. */
  about: Text;
}

const TOOLS: Readonly<Record<string, ToolWords>> = {
  clock: { label: text("Look at the clock"), about: text("Tells the time in any zone, and calculates with dates.") },
  web_fetch: { label: text("Read a web page"), about: text("Gets the text of a page with its headings and links.") },
  remember: { label: text("Remember a fact"), about: text("Keeps a fact beyond the conversation.") },
  recall: { label: text("Look up facts"), about: text("Searches what it remembers.") },
  forget: { label: text("Forget a fact"), about: text("Removes a fact for good.") },
  remind_me: { label: text("Set a reminder"), about: text("Comes back to something once, at a time you say.") },
  list_reminders: { label: text("Look at reminders"), about: text("Names the reminders that are still to come.") },
  cancel_reminder: { label: text("Cancel a reminder"), about: text("Drops a reminder that is still to come.") },
  schedule_task: { label: text("Make a schedule"), about: text("Sets up a task that repeats.") },
  list_schedules: { label: text("Look at schedules"), about: text("Names the tasks that repeat.") },
  pause_schedule: { label: text("Pause a schedule"), about: text("Pauses a task that repeats, or lets it go on.") },
  cancel_schedule: { label: text("Delete a schedule"), about: text("Ends a task that repeats.") },
  wallet_create: { label: text("Make a wallet"), about: text("Makes a wallet for you if there is none yet.") },
  wallet_balance: { label: text("Look at the balance"), about: text("Reads how much is in your wallet.") },
  wallet_send: { label: text("Send money"), about: text("Sends from your wallet, within your limits.") },
  wallet_trade: { label: text("Trade money"), about: text("Changes one token for another, within your limits.") },
  wallet_pay: { label: text("Pay for a page"), about: text("Pays for content of the web, within your limits.") },
  search_files: { label: text("Search its files"), about: text("Finds passages in the files that you gave it.") },
  keep_file: {
    label: text("Keep a file"),
    about: text("Keeps a file that you sent, to look things up in it later."),
  },
  delete_file: { label: text("Delete a file"), about: text("Removes a file that it keeps, for good.") },
  message_agent: {
    label: text("Ask another of your agents"),
    about: text("Sends a message to another of your agents, and waits for the answer."),
  },
  message_public_agent: {
    label: text("Ask a public agent"),
    about: text("Sends a message to a public agent of somebody else."),
  },
  message_remote_agent: {
    label: text("Ask an agent of another host"),
    about: text("Sends a message to an agent of another host that you have named."),
  },
  run_code: {
    label: text("Run a program"),
    about: text("Computes with a small program, shut off from everything else."),
  },
  make_picture: {
    label: text("Make a picture"),
    about: text("Makes a picture with an image model and sends it. Each costs a few cents of the budget."),
  },
  write_document: {
    label: text("Write a document"),
    about: text("Writes a PDF, Word, HTML, Markdown or CSV file and sends it."),
  },
  web_search: { label: text("Search the web"), about: text("Finds pages with a search provider.") },
  delegate: {
    label: text("Split the task"),
    about: text("Has copies of it work on parts of the task at once. They only read."),
  },
  run_skill_script: {
    label: text("Run a script of a skill"),
    about: text("Runs JavaScript that belongs to a skill, shut off from everything else."),
  },
  load_skill: { label: text("Load a skill"), about: text("Reads the instructions of one of its skills.") },
  read_skill_file: { label: text("Read a file of a skill"), about: text("Reads a text that belongs to a skill.") },
};

const wordsOf = (name: string): ToolWords | undefined => (Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined);

/** "Read a web page"; the name itself if it has no words. */
export function toolLabel(name: string): string {
  const words = wordsOf(name);
  return words ? t(words.label) : name;
}

/** What the tool does, for its owner; undefined for tools from elsewhere. */
export function toolAbout(name: string): string | undefined {
  const words = wordsOf(name);
  return words && t(words.about);
}
