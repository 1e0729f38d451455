// Runs in the page, before its scripts: notes which elements react to a pointer, and what the keyboard reaches.

import type { Failure, Found, Layout, Mode, Progress } from "./found.ts";

/** The least contrast of a focus ring (WCAG 2.2, 1.4.11). */
const RING_CONTRAST = 3;
const CONTROLS = "a[href], button, input, select, textarea, summary, [tabindex]";
const POINTER = ["click", "dblclick", "mousedown", "pointerdown"];

const withPointer = new Set<Element>();
const addListener = Element.prototype.addEventListener;
Element.prototype.addEventListener = function (this: Element, type: string, ...rest: unknown[]) {
  if (POINTER.includes(type)) withPointer.add(this);
  return Reflect.apply(addListener, this, [type, ...rest]);
};

/** Of the frame of each page, which a test of its own is about. */
const FRAME = [/^\/api\/(?:settings|events)$/, /^\/api\/agents\/[0-9a-f-]{36}$/];

/** Requests without an answer, and those of them that are held back. */
let waiting = 0;
let held = 0;
/** What reads of the page meet; "away" is for all requests, those for code too. */
let mode: Mode;
let release: () => void;
let change: Promise<void>;
let refused: string[] = [];

function fail(next: Mode): void {
  mode = next;
  release?.();
  change = new Promise((resolve) => {
    release = resolve;
  });
}
fail(undefined);

/** Here and not on the way to the server, because the browser keeps no files while somebody else answers its requests. */
async function answer(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  const isRead = request.method === "GET" && pathname.startsWith("/api/") && !FRAME.some((one) => one.test(pathname));
  if (mode === undefined || (mode !== "away" && !isRead)) return send(request);
  if (mode === "slow") {
    held += 1;
    await change;
    held -= 1;
    return answer(request);
  }
  refused.push(pathname);
  if (typeof mode === "string") throw new TypeError("Failed to fetch");
  const error = `This is refused with ${mode}.`;
  const code = mode === 401 ? "UNAUTHORIZED" : "REFUSED";
  const headers = mode === 429 ? { "retry-after": "1" } : {};
  return Response.json({ error, message: error, code }, { status: mode, headers });
}

const send = globalThis.fetch;
globalThis.fetch = Object.assign(async (...request: Parameters<typeof fetch>) => {
  waiting += 1;
  try {
    return await (mode === undefined ? send(...request) : answer(new Request(...request)));
  } finally {
    waiting -= 1;
  }
}, send);

/** What was refused since this was asked for last. */
function takeRefused(): string[] {
  const taken = refused;
  refused = [];
  return taken;
}

let reached = new Map<Element, string | undefined>();
let hasLeft = false;

/** What can be used now: the dialog that is open, or the page without what is around it. */
const mainPart = (): HTMLElement =>
  document.querySelector<HTMLElement>("dialog[open]") ?? document.querySelector("main") ?? document.body;

function nameOf(element: Element): string {
  const name = element.getAttribute("aria-label") ?? element.textContent ?? "";
  return `<${element.tagName.toLowerCase()}> ${name.trim().slice(0, 60)}`;
}

const isShown = (element: Element): boolean =>
  element.checkVisibility({ contentVisibilityAuto: true, visibilityProperty: true }) && !element.closest("[inert]");

const isTabStop = (element: Element): boolean =>
  element instanceof HTMLElement && element.tabIndex >= 0 && !element.matches(":disabled") && isShown(element);

/** Of a group of radio buttons Tab reaches one; arrows the others. */
const groupOf = (element: Element): string | undefined =>
  element instanceof HTMLInputElement && element.type === "radio" ? element.name : undefined;

function parse(color: string): [red: number, green: number, blue: number, alpha: number] {
  const [red = 0, green = 0, blue = 0, alpha = 1] = (color.match(/[\d.]+/g) ?? []).map(Number);
  return [red, green, blue, alpha];
}

function luminance(color: string): number {
  const [red, green, blue] = parse(color)
    .slice(0, 3)
    .map((value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0);
}

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

/** The colour behind an element. */
function groundOf(element: Element | null): string {
  for (let one = element; one; one = one.parentElement) {
    const { backgroundColor } = getComputedStyle(one);
    if (parse(backgroundColor)[3] > 0.95) return backgroundColor;
  }
  return "rgb(255, 255, 255)";
}

/** The element that shows the ring: the one with the focus, or a label or card around it. */
function ringOf(element: Element): Element | undefined {
  for (let one: Element | null = element, up = 0; one && up < 5; one = one.parentElement, up++) {
    const { outlineStyle, outlineWidth, opacity } = getComputedStyle(one);
    const isVisible = opacity !== "0" && one.getBoundingClientRect().width > 1;
    if (isVisible && outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2) return one;
  }
  return undefined;
}

/** What keeps a person from seeing that the element has the focus. */
function problemOf(element: Element): string | undefined {
  const ring = ringOf(element);
  if (!ring) return "shows no focus";
  const { outlineColor, outlineOffset } = getComputedStyle(ring);
  const ground = groundOf(Number.parseFloat(outlineOffset) < 0 ? ring : ring.parentElement);
  const found = contrast(outlineColor, ground);
  if (found < RING_CONTRAST) return `shows its focus with a contrast of ${found.toFixed(2)}`;
  const { left, right, top, bottom } = ring.getBoundingClientRect();
  const x = Math.max(left, 0) / 2 + Math.min(right, innerWidth) / 2;
  const hit = document.elementFromPoint(x, (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2);
  if (hit && (ring.contains(hit) || hit.contains(ring))) return undefined;
  return hit ? `is covered by ${nameOf(hit)}` : "is out of sight";
}

/** Stands behind the last control while the way goes back. */
const last = document.createElement("span");
last.tabIndex = -1;

/** Puts the focus before the first control, or behind the last one, and notes where it goes from there. */
function start(isBack = false): void {
  const main = mainPart();
  // That of a guided path takes no focus by itself.
  if (!main.hasAttribute("tabindex")) main.tabIndex = -1;
  if (isBack) main.append(last);
  (isBack ? last : main).focus();
  reached = new Map();
  hasLeft = false;
}

/** Looks at the element with the focus, before the next key moves on: only then the browser has scrolled to it. */
function look(): void {
  const { activeElement } = document;
  if (!activeElement || activeElement === mainPart() || activeElement === last || hasLeft) return;
  // A dialog begins again at its end. A field for a date has several stops.
  const [first] = reached.keys();
  const isBeginning = activeElement === first && reached.size > 1;
  if (!mainPart().contains(activeElement) || isBeginning) hasLeft = true;
  // Back from its end, the first of them is the button of its calendar, whose ring is its own.
  else if (reached.get(activeElement) !== undefined || !reached.has(activeElement)) {
    reached.set(activeElement, problemOf(activeElement));
  }
}

document.addEventListener("keydown", look, { capture: true });
document.addEventListener("focusout", ({ relatedTarget }) => {
  if (relatedTarget === null) hasLeft = true;
});

function end(): Found {
  last.remove();
  const main = mainPart();
  const groups = new Set([...reached.keys()].map(groupOf));
  const isReached = (element: Element) => reached.has(element) || groups.has(groupOf(element) ?? "");
  const all = [...main.querySelectorAll("*")];
  return {
    reached: reached.size,
    missed: all.filter((one) => one.matches(CONTROLS) && isTabStop(one) && !isReached(one)).map(nameOf),
    unseen: [...reached].flatMap(([element, problem]) => (problem ? [`${nameOf(element)} ${problem}`] : [])),
    pointerOnly: [...withPointer].filter((one) => main.contains(one) && isPointerOnly(one)).map(nameOf),
    stuck: all.filter(isStuck).map(nameOf),
  };
}

/** A chart is a picture; its numbers are in the table below it. */
const isPointerOnly = (element: Element): boolean =>
  isShown(element) &&
  !element.closest("a[href], button, input, select, textarea, summary, label, dialog, [role=img]") &&
  !(element instanceof HTMLElement && element.tabIndex >= 0);

function isStuck(element: Element): boolean {
  const { overflowX, overflowY } = getComputedStyle(element);
  const scrolls =
    (/auto|scroll/.test(overflowY) && element.scrollHeight > element.clientHeight + 1) ||
    (/auto|scroll/.test(overflowX) && element.scrollWidth > element.clientWidth + 1);
  return scrolls && isShown(element) && !isTabStop(element) && ![...element.querySelectorAll("*")].some(isTabStop);
}

function layout(): Layout {
  const page = document.documentElement;
  const cut = [...mainPart().querySelectorAll("*")].filter((one) => isShown(one) && isCut(one)).map(nameOf);
  const moving = document
    .getAnimations()
    .filter(({ playState, effect }) => playState === "running" && Number(effect?.getComputedTiming().duration) > 1)
    .map(({ effect }) => (effect instanceof KeyframeEffect && effect.target ? nameOf(effect.target) : "?"));
  return { cut: page.scrollWidth > innerWidth ? [`the page (${page.scrollWidth} px)`, ...cut] : cut, moving };
}

/** Whether text is lost at its edge, or the element is beside the page. Shortened names end with an ellipsis. */
function isCut(element: Element): boolean {
  const { overflowX, textOverflow, clipPath } = getComputedStyle(element);
  // Only for screen readers.
  if (clipPath !== "none") return false;
  const isShortened = textOverflow === "ellipsis" || element.matches("[role=img], [role=img] *, svg, svg *");
  if (overflowX === "hidden" && !isShortened && element.scrollWidth > element.clientWidth + 1) return true;
  return element.getBoundingClientRect().left > innerWidth && !element.closest(".overflow-x-auto, .sr-only");
}

/** What somebody has chosen on the page, and what is open: the values of its controls, and its headings. */
function state(): string[] {
  const value = (one: Element) => {
    if (one instanceof HTMLInputElement && /radio|checkbox/.test(one.type)) return String(one.checked);
    if (one instanceof HTMLInputElement || one instanceof HTMLSelectElement) return one.value;
    return [one.getAttribute("aria-current"), one.getAttribute("aria-expanded"), one.getAttribute("open")].join(" ");
  };
  const controls = "h1, h2, h3, input, select, dialog, [aria-current], [aria-expanded]";
  return [...mainPart().querySelectorAll(controls)].filter(isShown).map((one) => `${nameOf(one)}: ${value(one)}`);
}

/** Resolves when every request has its answer, and the page shows it. */
async function answered(): Promise<void> {
  do await new Promise(requestAnimationFrame);
  while (waiting > 0);
  await new Promise(requestAnimationFrame);
}

/** Resolves when nothing is on its way but what is held back, and the page shows that. */
async function holding(): Promise<void> {
  do await new Promise(requestAnimationFrame);
  while (waiting > held);
  await new Promise(requestAnimationFrame);
}

/** What a page shows while its data is on the way: whether it shows that, and where its heading is. */
function progress(): Progress {
  const main = mainPart();
  const isShownIn = (selector: string) => [...main.querySelectorAll(selector)].some(isShown);
  return {
    isHeld: held > 0,
    isTold: isShownIn(".skeleton, .animate-spin, [role=status]"),
    isBlank: !isShownIn("h1, .skeleton"),
    headingTop: main.querySelector("h1")?.getBoundingClientRect().top,
  };
}

/** Resolves when the window has this size, and shows the page in it. */
async function resized(width: number, height: number): Promise<void> {
  do await new Promise(requestAnimationFrame);
  while (innerWidth !== width || innerHeight !== height);
  await answered();
}

/** What a page must not have while its data can't be had. */
function failure(): Failure {
  const main = mainPart();
  const alerts = [...main.querySelectorAll("[role=alert]")].filter(isShown);
  return {
    waiting: [...main.querySelectorAll(".skeleton, .animate-spin")].filter(isShown).map(nameOf),
    helpless: alerts.filter((one) => !one.querySelector("button, a[href]")).map(nameOf),
  };
}

/** Resolves when the page shows what it has to show; rejects after ten seconds. */
async function ready(): Promise<void> {
  const end = performance.now() + 10_000;
  // What has come may ask for more when it is shown.
  for (let frames = 0; frames < 3 && performance.now() < end; frames = isReady() ? frames + 1 : 0) {
    await new Promise(requestAnimationFrame);
  }
  if (!isReady()) throw new Error(`${location.pathname} still loads.`);
}

const isReady = (): boolean => {
  const heading = [...document.querySelectorAll("h1")].some(isShown);
  return waiting === 0 && heading && ![...document.querySelectorAll(".skeleton")].some(isShown);
};

Object.assign(globalThis, {
  audit: {
    ...{ start, end, layout, ready, answered, resized, failure, state, hasLeft: () => hasLeft },
    ...{ fail, takeRefused, holding, progress },
  },
});
