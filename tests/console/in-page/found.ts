// What the audit of a page finds. Without types of the browser, for the tests.

export interface Found {
  /** How many elements of the page's main part got the focus. */
  reached: number;
  /** Controls that Tab does not reach. */
  missed: string[];
  /** Elements that got the focus without showing it, or out of sight. */
  unseen: string[];
  /** Elements that do something for a pointer only. */
  pointerOnly: string[];
  /** Boxes that scroll, and that keys can't scroll. */
  stuck: string[];
}

export interface Layout {
  /** Elements that are cut off or out of the page, and the page itself if it scrolls sideways. */
  cut: string[];
  /** Animations that run although the person wants less motion. */
  moving: string[];
}

/** What requests meet: a status, no answer, no answer yet. Undefined: what the server says. */
export type Mode = number | "offline" | "away" | "slow" | undefined;

export interface Progress {
  /** Whether a request is held back. */
  isHeld: boolean;
  /** Whether the page says that something comes. */
  isTold: boolean;
  isBlank: boolean;
  /** Undefined without a heading. */
  headingTop: number | undefined;
}

export interface Failure {
  /** What still looks as if something came. */
  waiting: string[];
  /** Errors without a way on. */
  helpless: string[];
}
