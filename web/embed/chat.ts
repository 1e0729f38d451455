// The chat: what it shows, and what happens when a visitor writes. It knows neither bubble nor page, which hold it.

import { type Conversation, NOT_ADMITTED, type Question, Refusal, Unreachable } from "./conversation.ts";
import { createIcon, createElement as h } from "./element.ts";
import type { Look } from "./look.ts";
import { markdown } from "./markdown.ts";

export interface Chat {
  /** Header, log and form. */
  readonly parts: readonly HTMLElement[];
  /** Where a page and a bubble put their own buttons. */
  readonly header: HTMLElement;
  /** Moves the focus to where the visitor writes: a device that names no mouse may have a keyboard all the same. */
  focus(): void;
  scrollToEnd(): void;
}

interface Options {
  /** Undefined in a preview, which sends nothing. */
  conversation: Conversation | undefined;
  /** The level of the heading with the agent's name. */
  heading: "h1" | "h2";
  /** A reply, or the word that there is none, has arrived. */
  onNews: () => void;
}

const SEND = "M4 12 20 4l-5 16-3-7z";
const STOP = "M7 7h10v10H7z";
const FRESH = "M5 5v5h5M5.5 10a7 7 0 1 1-.5 4";
const MAX_MESSAGE = 4_000;
const SLOW_MS = 10_000;
/** Seconds until the first attempt to send again; each later one waits twice as long, up to the last. */
const [FIRST_RETRY_S, LAST_RETRY_S, MAX_RETRIES] = [2, 30, 12];

export function createChat(look: Look, { conversation, heading, onNews }: Options): Chat {
  const { name, greeting, texts, errors } = look;
  const say = (key: string) => (texts[key] ?? "").replaceAll("{name}", name);

  const fresh = h("button", [createIcon(FRESH)], {
    type: "button",
    class: "icon",
    "aria-label": say("fresh"),
    title: say("fresh"),
  });
  const initial = [...name][0]?.toUpperCase() ?? "";
  const title = h(heading, [h("bdi", [name])], { id: "title" });
  const header = h("header", [h("span", [initial], { class: "face", "aria-hidden": "true" }), title, fresh]);
  // Replies are announced by `voice`, once and whole: a log would announce each piece of them.
  const log = h("div", [], { class: "log", role: "log", "aria-live": "off", "aria-label": say("log"), tabindex: "0" });
  const state = h("p", [], { class: "state", role: "status" });
  const voice = h("div", [], { class: "unseen", role: "status" });
  const input = h("textarea", [], {
    id: "input",
    rows: "1",
    maxlength: String(MAX_MESSAGE),
    placeholder: say("write"),
    autocomplete: "off",
  });
  /** Sends, and stops the answer while there is one. */
  const send = h("button", [], { type: "submit", class: "send" });
  const label = h("label", [say("message")], { class: "unseen", for: "input" });
  const form = h("form", [label, input, send]);
  const note = h("p", [say("note")], { class: "note" });

  /** The message that is being answered, the line of its reply, and the reply so far. */
  let running: { question: Question; controller: AbortController; line: HTMLElement; text: string } | undefined;
  /** Stands behind this message of the visitor: a reply that is not whole, or the word that there is none. */
  let pending: { id: string; line: HTMLElement } | undefined;
  let stopWaiting: () => void = () => undefined;

  function setRunning(next: typeof running): void {
    running = next;
    const does = next ? "stop" : "send";
    send.dataset.does = does;
    send.title = say(does);
    send.setAttribute("aria-label", say(does));
    send.replaceChildren(createIcon(next ? STOP : SEND));
  }

  /** Ends the answer here and at the server. What was said of it stays, as it does there. */
  function stop(): void {
    if (!running) return;
    const { question, controller, line, text } = running;
    controller.abort();
    conversation?.stop(question.id);
    conversation?.close(question.id, text || undefined);
    if (text === "") line.remove();
    else showReply(line, text);
    setRunning(undefined);
    state.textContent = say("stopped");
  }

  const scrollToEnd = () => log.scrollTo(0, log.scrollHeight);
  const isAtEnd = () => log.scrollHeight - log.scrollTop - log.clientHeight < 60;
  let wasAtEnd = true;
  log.addEventListener("scroll", () => {
    wasAtEnd = isAtEnd();
  });
  // A line below it, a longer text in the field, or a keyboard on the screen takes room from the log.
  new ResizeObserver(() => wasAtEnd && scrollToEnd()).observe(log);

  /** Adds a line. The language of what people and agents write is not known. */
  function addLine(by: "visitor" | "agent" | "greeting", text: string): HTMLElement {
    const body = h("div", by === "visitor" ? [text] : markdown(text), { class: "text", dir: "auto", lang: "" });
    const author = h("span", [`${by === "visitor" ? say("you") : name}: `], { class: "unseen" });
    const line = h("div", [author, body], { class: `line ${by}` });
    log.append(line);
    scrollToEnd();
    return line;
  }

  function showReply(line: HTMLElement, text: string): void {
    const follow = isAtEnd();
    line.querySelector(".text")?.replaceChildren(...markdown(text));
    line.classList.remove("busy");
    if (follow) scrollToEnd();
  }

  function createWaitingLine(): HTMLElement {
    const line = addLine("agent", "");
    line.classList.add("busy");
    line
      .querySelector(".text")
      ?.append(...[0, 1, 2].map(() => h("i", [])), h("span", [say("writing")], { class: "unseen" }));
    return line;
  }

  function showFailure(line: HTMLElement, words: string, language: string, question: Question): void {
    const again = h("button", [say("again")], { type: "button" });
    again.addEventListener("click", () => {
      if (running) return;
      input.focus();
      line.remove();
      void deliver(question);
    });
    line.className = "line failure";
    line.replaceChildren(h("p", [words], { lang: language }), again);
    voice.textContent = words;
    scrollToEnd();
  }

  async function deliver(question: Question): Promise<void> {
    if (!conversation) return;
    const controller = new AbortController();
    for (const button of log.querySelectorAll(".failure button")) button.remove();
    const line = createWaitingLine();
    pending = { id: question.id, line };
    setRunning({ question, controller, line, text: "" });
    state.textContent = "";
    voice.textContent = say("writing");
    const slow = setTimeout(() => {
      if (line.classList.contains("busy") && state.textContent === "") state.textContent = say("slow");
    }, SLOW_MS);
    try {
      const reply = await sendUntilReached(conversation, question, line, controller.signal);
      showReply(line, reply);
      conversation.close(question.id, reply);
      // biome-ignore lint/performance/useDomNodeTextContent: it would run the items of a list together
      voice.textContent = `${name}: ${line.querySelector<HTMLElement>(".text")?.innerText ?? ""}`;
      onNews();
    } catch (error) {
      if (controller.signal.aborted) return;
      if (error instanceof Refusal) {
        const words = error.code === NOT_ADMITTED ? say("gone") : errors[error.code];
        showFailure(line, words ?? error.message, words ? look.language : "en", question);
        if (error.code !== "RATE_LIMITED" && error.code !== "AGENT_BUSY") conversation.close(question.id);
      } else showFailure(line, say("failed"), look.language, question);
      onNews();
    } finally {
      clearTimeout(slow);
      if (running?.controller === controller) {
        state.textContent = "";
        setRunning(undefined);
      }
    }
  }

  /** Sends the message, and sends it again while server or network are away. */
  async function sendUntilReached(
    talk: Conversation,
    question: Question,
    line: HTMLElement,
    signal: AbortSignal,
  ): Promise<string> {
    for (let attempt = 0; ; attempt++) {
      let frame = 0;
      let hasBegun = false;
      const showSoon = (text: string) => {
        cancelAnimationFrame(frame);
        if (!hasBegun) state.textContent = "";
        hasBegun = true;
        if (running?.controller.signal === signal) running.text = text;
        frame = requestAnimationFrame(() => showReply(line, text));
      };
      try {
        return await talk.send(question, showSoon, signal);
      } catch (error) {
        if (!(error instanceof Unreachable) || attempt >= MAX_RETRIES) throw error;
        state.textContent = say(navigator.onLine ? "away" : "offline");
        await pause(attempt, signal);
      } finally {
        cancelAnimationFrame(frame);
      }
    }
  }

  /** Waits before the next attempt; not longer than until the network is back. */
  async function pause(attempt: number, signal: AbortSignal): Promise<void> {
    const seconds = Math.min(LAST_RETRY_S, FIRST_RETRY_S * 2 ** attempt) * (0.75 + Math.random() / 2);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, seconds * 1_000);
      stopWaiting = () => {
        clearTimeout(timer);
        resolve();
      };
      addEventListener("online", stopWaiting, { once: true });
      signal.addEventListener("abort", stopWaiting, { once: true });
    });
    removeEventListener("online", stopWaiting);
    signal.throwIfAborted();
  }

  function submit(): void {
    const message = input.value.trim();
    if (message === "" || !conversation) return;
    if (running) {
      state.textContent = say("busy");
      return;
    }
    input.value = "";
    fit();
    addLine("visitor", message);
    void deliver(conversation.ask(message));
  }

  /** The field grows with its text, where the browser does not do that itself (`field-sizing`). */
  function fit(): void {
    if (CSS.supports("field-sizing", "content")) return;
    input.style.height = "auto";
    input.style.height = `${input.scrollHeight + 2}px`;
  }

  /** Shows the whole conversation anew. */
  function showAll(): void {
    log.replaceChildren();
    addLine("greeting", greeting || say("hello"));
    const messages = conversation?.messages ?? [];
    const answered = messages.filter(({ by }) => by === "agent").map(({ id }) => id);
    for (const { by, text, id } of messages) {
      addLine(by, text);
      if (by === "visitor" && id === pending?.id && !answered.includes(id) && pending) log.append(pending.line);
    }
    scrollToEnd();
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (running) stop();
    else submit();
  });
  input.addEventListener("input", fit);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  });
  fresh.addEventListener("click", () => {
    stop();
    state.textContent = "";
    voice.textContent = "";
    conversation?.clear();
    showAll();
    input.focus();
  });
  conversation?.onChange(() => {
    // Another tab has started over.
    if (running && !conversation.messages.some(({ id }) => id === running?.question.id)) {
      running.controller.abort();
      state.textContent = "";
      setRunning(undefined);
    }
    showAll();
  });

  showAll();
  setRunning(undefined);
  // A message that got no answer before the page was left is sent again.
  const last = conversation?.messages.at(-1);
  if (last?.isOpen && last.id) void deliver({ ...last, id: last.id, isOpen: true });

  return {
    parts: [header, log, state, form, note, voice],
    header,
    focus: () => input.focus({ preventScroll: true }),
    scrollToEnd,
  };
}
